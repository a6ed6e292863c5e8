"""The programs behind the scripts in ci/: one file each, with the same parts as a command's."""
