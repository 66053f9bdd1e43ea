# Sourced by the commands here: makes a virtual environment inside the checkout with the wheel of this very source in
# it.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=${PYTHON:-python3}
# No trace outside the checkout: matplotlib keeps a list of fonts, ir_measures folders for data, notebooks their settings and
# connections, and pip asks rustc, which may be rustup's, for its version.
export MPLCONFIGDIR="$root/build/matplotlib" RUSTUP_HOME="${RUSTUP_HOME:-$root/build/rustup}" IR_DATASETS_HOME="$root/build/ir_datasets"
export IPYTHONDIR="$root/build/ipython" JUPYTER_CONFIG_DIR="$root/build/jupyter" JUPYTER_DATA_DIR="$root/build/jupyter"

constraints="$root/ci/constraints.txt"
export PIP_CACHE_DIR="$root/build/pip-cache" PIP_DISABLE_PIP_VERSION_CHECK=1

# wheel_of_sources: the wheel of this very source, made once for each state of it, each Python and each set of flags.
# Leaves its path in $wheel.
wheel_of_sources() {
    local sources=(pyproject.toml setup.py README.md LICENSE* src) state folder scratch
    state=$( (cd "$root" && find "${sources[@]}" -type f ! -name '*.py[co]' ! -name '*.so' ! -path '*.egg-info*' -print0 | LC_ALL=C sort -z |
        xargs -0 cksum; "$python" -VV; echo "${HITCURVE_DEBUG:-} ${CC:-} ${CFLAGS:-} ${LDFLAGS:-}") | cksum | tr ' ' -)
    folder="$root/build/wheels/$state"
    # A wheel that was made without looking at warnings does not do where they are errors.
    if [ ! -d "$folder" ] || { [ -n "${HITCURVE_WERROR:-}" ] && [ ! -e "$folder/no-warnings" ]; }; then
        echo "== compiling hitcurve: one to three minutes, once for each state of the sources" >&2
        mkdir -p "$root/build/wheels"
        scratch=$(mktemp -d "$root/build/wheels/making.XXXXXX") # nothing is left of an earlier build, or of other flags
        mkdir "$scratch/source"
        (cd "$root" && tar -cf - --exclude='*.so' --exclude='*.py[co]' --exclude='*.egg-info' "${sources[@]}") | tar -xf - -C "$scratch/source"
        # pip builds in isolation: the build requirements come from pyproject.toml, whatever is installed here.
        while sleep 15 && kill -0 $$ && [ -d "$scratch" ]; do # it ends by itself if the build is stopped
            echo "   of $(find "$root/src" -name '*.pyx' | wc -l) modules, $(find "$scratch" -name '*.c' | wc -l) are C," \
                "$(find "$scratch" -name '*.so' | wc -l) are compiled" >&3
        done 3>&2 2> /dev/null &
        "$env/bin/python" -m pip --quiet wheel --no-deps --wheel-dir "$scratch/made" "$scratch/source"
        kill $! 2> /dev/null || true
        [ -z "${HITCURVE_WERROR:-}" ] || touch "$scratch/made/no-warnings"
        rm -rf "$folder"
        mv "$scratch/made" "$folder"
        rm -rf "$scratch"
        # shellcheck disable=SC2012 # the names are numbers
        ls -dt "$root/build/wheels"/[0-9]* | tail -n +13 | xargs rm -rf
    fi
    wheel=$(echo "$folder"/hitcurve-*.whl)
}

# more_packages PACKAGE...: further packages for the environment, in the versions that $constraints pins.
more_packages() {
    "$env/bin/python" -m pip --quiet install -c "$constraints" "$@"
    if [ "$constraints" = "$root/ci/constraints.txt" ]; then
        "$env/bin/python" "$root/ci/pinned.py" "$constraints"
    fi
}

# environment NAME EXTRAS [PACKAGE...]: leaves the environment's folder in $env. A second run reuses what is there.
environment() {
    env="$root/build/env-$1"
    local extras=$2 packages wheel
    shift 2
    if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        echo "hitcurve needs Python 3.11 or newer; PYTHON=... names one" >&2
        exit 1
    fi
    [ -x "$env/bin/python" ] || "$python" -m venv "$env"
    wheel_of_sources
    packages="$extras $* $(cksum < "$constraints") $("$python" -VV)"
    if [ "$(cat "$env/stamp" 2>/dev/null)" = "$packages $wheel" ]; then
        return
    fi
    echo "== installing hitcurve$extras into $env" >&2
    if [ "$(cat "$env/packages" 2>/dev/null)" != "$packages" ]; then
        rm -rf "$env"
        "$python" -m venv "$env"
    fi
    more_packages "$wheel$extras" "$@"
    "$env/bin/python" -m pip --quiet install --no-deps --force-reinstall "$wheel"
    mkdir -p "$env/work"
    echo "$packages" > "$env/packages"
    echo "$packages $wheel" > "$env/stamp"
}
