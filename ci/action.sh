#!/usr/bin/env bash
# The step of action.yml: one hunt, its report, SARIF and JUnit. By hand:
#   SLOTFUZZ_SUBJECT=core SLOTFUZZ_SECONDS=10 ci/action.sh
# Inputs are the variables below; an empty one means the default of `slotfuzz hunt`. Findings go to
# OUT, ./slotfuzz-findings by default. Ends with the exit code of the hunt.
set -euo pipefail
slotfuzz=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../slotfuzz
out=${OUT:-$PWD/slotfuzz-findings}

words=()
option() { if [[ -n $2 ]]; then words+=("$1" "$2"); fi; }
read -ra targets <<<"${SLOTFUZZ_TARGET-}"
option --subject "${SLOTFUZZ_SUBJECT-}"
option --python "${SLOTFUZZ_PYTHON-}"
option --seconds "${SLOTFUZZ_SECONDS-}"
option --seed "${SLOTFUZZ_SEED-}"
option --sanitizer "${SLOTFUZZ_SANITIZER-}"
option --baseline "${SLOTFUZZ_BASELINE-}"

code=0
"$slotfuzz" hunt "${targets[@]}" "${words[@]}" --out "$out" || code=$?
outputs=("exit-code=$code")
# A hunt that did not start has nothing to report.
if [[ -e $out/campaign.jsonl ]]; then
  "$slotfuzz" report "$out" --sarif "$out/findings.sarif" --junit "$out/findings.xml" || {
    reported=$?
    ((code)) || code=$reported
  }
  outputs+=("findings=$out" "sarif=$out/findings.sarif" "junit=$out/findings.xml")
fi
printf '%s\n' "${outputs[@]}" >>"${GITHUB_OUTPUT:-/dev/stdout}"
exit "$code"
