#compdef PROGRAM
# zsh completions of PROGRAM: all words come from PROGRAM itself.
_PROGRAM()
{
	local -a found values shown
	local program=${(Q)words[1]} out i
	program=${program/#\~\//$HOME/}
	out=$("$program" --complete-words zsh "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)
	found=("${(@0)out}")
	if [[ $found[1] == command\ * ]]; then
		i=$(( ${found[1]#command } + 1 ))
		shift $i words
		(( CURRENT -= i ))
		_normal
		return
	fi
	for (( i = 2; i < $#found; i += 2 )); do
		values+=("$found[i]")
		shown+=("${(V)found[i]}${found[i + 1]:+  -- $found[i + 1]}")
	done
	local failed=1
	(( $#values )) && compadd -l -d shown -a values && failed=0
	case $found[1] in
	files) compset -P '--*='; _files && failed=0 ;;
	directories) compset -P '--*='; _files -/ && failed=0 ;;
	esac
	return failed
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
	_PROGRAM "$@"
else
	compdef _PROGRAM PROGRAM
fi
