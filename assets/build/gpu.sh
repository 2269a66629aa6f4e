#!/bin/sh
# Says which NVIDIA GPUs are here, or that there is none to check anything with, and exits with 2 then.
set -u

if gpus=$(nvidia-smi -L 2>/dev/null) && [ -n "$gpus" ]; then
    printf '%s\n' "$gpus"
    exit 0
fi
echo "ragonite: there is no NVIDIA GPU here, or its driver does not answer (nvidia-smi -L); nothing was checked." >&2
echo "ragonite: \`make cuda\` builds ragonite-cuda all the same; run \`make check-cuda\` where a GPU is" >&2
exit 2
