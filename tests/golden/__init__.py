"""The golden set: programs of corpora with the verdict, the signature and the bucket of each."""
