# Bash runs this before each shell line and script of a cell. Cells that only import packages
# must not use the network (GOPROXY is off); a shell line such as "!*go get" may.
if [ "$GOPROXY" = off ]; then
	export GOPROXY="$SVMNB_GOPROXY"
fi
