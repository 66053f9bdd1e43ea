# Sourced by the commands here: makes a virtual environment inside the checkout with the wheel of this very source in
# it. A second run reuses what is there, and rebuilds only what has changed.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=${PYTHON:-python3}
# No trace outside the checkout: matplotlib keeps a list of fonts, ir_measures folders for data, notebooks their settings and
# connections, and pip asks rustc, which may be rustup's, for its version.
export MPLCONFIGDIR="$root/build/matplotlib" RUSTUP_HOME="${RUSTUP_HOME:-$root/build/rustup}" IR_DATASETS_HOME="$root/build/ir_datasets"
export IPYTHONDIR="$root/build/ipython" JUPYTER_CONFIG_DIR="$root/build/jupyter" JUPYTER_DATA_DIR="$root/build/jupyter"

# environment NAME EXTRAS: leaves the environment's folder in $env
environment() {
    env="$root/build/env-$1"
    local extras=$2 stamp wheel
    if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        echo "hitcurve needs Python 3.11 or newer; PYTHON=... names one" >&2
        exit 1
    fi
    stamp=$( (cd "$root" && cat pyproject.toml setup.py README.md ci/constraints.txt && find src/hitcurve -type f ! -name '*.pyc' ! -name '*.so' -print0 |
        LC_ALL=C sort -z | xargs -0 cat; "$python" -VV; echo "${HITCURVE_WERROR:-} ${HITCURVE_DEBUG:-} ${CFLAGS:-} ${LDFLAGS:-}") | cksum)
    if [ "$(cat "$env/stamp" 2>/dev/null)" = "$stamp" ]; then
        return
    fi
    echo "== making $env" >&2
    [ -x "$env/bin/python" ] || "$python" -m venv "$env"
    rm -rf "$root/build/wheel-$1"
    # What an earlier build left of modules that are no longer there would go into the wheel.
    (shopt -s nullglob && cd "$root" && for built in build/lib*/; do
        find "$built" -type f | while read -r file; do
            part=${file#"$built"}
            compgen -G "src/${part%%.*}.*" > /dev/null || rm "$file"
        done
    done)
    export PIP_CACHE_DIR="$root/build/pip-cache"  # no trace outside the checkout
    # pip builds in isolation: the build requirements come from pyproject.toml, whatever is installed here.
    "$env/bin/python" -m pip --disable-pip-version-check --quiet wheel --no-deps --wheel-dir "$root/build/wheel-$1" "$root"
    wheel=$(echo "$root/build/wheel-$1"/hitcurve-*.whl)
    "$env/bin/python" -m pip --disable-pip-version-check --quiet install -c "$root/ci/constraints.txt" "$wheel$extras"
    "$env/bin/python" -m pip --disable-pip-version-check --quiet install --no-deps --force-reinstall "$wheel"
    mkdir -p "$env/work"
    echo "$stamp" > "$env/stamp"
}
