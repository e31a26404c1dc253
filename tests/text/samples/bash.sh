#!/usr/bin/env bash
# Shapes — drawn as ▲ and 😀.
source ./lib/colour.sh
. "$HOME/.profile"

MAX_SIDES=64
readonly ORIGIN=0
export PATH="$HOME/bin:$PATH"
declare -a shapes=(circle square)

# Draws all shapes.
draw() {
  local limit="$1"
  for shape in "${shapes[@]}"; do
    place "$shape" "$limit"
  done
}

# The area, in square units.
function area {
  result=$(measure "$1" | tail -n 1)
  echo $((result * MAX_SIDES))
}

draw "$@"
