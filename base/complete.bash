# bash completions of PROGRAM: all words come from PROGRAM itself.
_PROGRAM_complete()
{
	local -a found
	local i
	COMPREPLY=()
	mapfile -d '' -t found < <("${1/#\~\//$HOME/}" --complete-words bash "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
	case ${found[0]-} in
	files) compopt -o default 2>/dev/null ;;
	directories) compopt -o dirnames 2>/dev/null ;;
	command\ *)
		i=$((${found[0]#command } + 1))
		if declare -F _comp_command_offset >/dev/null; then
			_comp_command_offset "$i"
		elif declare -F _command_offset >/dev/null; then
			_command_offset "$i"
		else
			compopt -o default 2>/dev/null
		fi
		return
		;;
	esac
	for ((i = 1; i < ${#found[@]}; i += 2)); do
		printf -v "COMPREPLY[i / 2]" %q "${found[i]}"
	done
}
complete -F _PROGRAM_complete PROGRAM
