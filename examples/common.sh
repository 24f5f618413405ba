# What the examples share: messages, and the program. Sourced, with `here` as the example's folder.

say() { echo "$(basename "$here"): $*" >&2; }

refuse() {
    say "$1"
    exit "$2"
}

# Prints the program to be used.
program() {
    if [ -n "${PLIMSOLL:-}" ]; then
        echo "$PLIMSOLL"
    elif command -v plimsoll; then
        :
    else
        repository=$(cd "$here/../.." && pwd)
        cargo build --release --quiet --manifest-path "$repository/Cargo.toml" >&2
        echo "$repository/target/release/plimsoll"
    fi
}
