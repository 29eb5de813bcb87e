# fish completions of PROGRAM: all words come from PROGRAM itself.
function __PROGRAM_complete
	set -l words (commandline -opc)
	set -l current (commandline -ct)
	set -l program (string replace -r '^~/' $HOME/ -- $words[1])
	set -e words[1]
	set -l found (command $program --complete-words fish $words "$current" 2>/dev/null | string split0)
	switch "$found[1]"
		case files
			__fish_complete_path "$current"
		case directories
			__fish_complete_directories "$current"
		case 'command *'
			set -l first (math (string replace 'command ' '' -- $found[1]) + 1)
			if test $first -gt (count $words)
				complete -C "$current"
			else
				complete -C (string join ' ' -- (string escape -- $words[$first..-1]) "$current")
			end
			return
	end
	set -l lines
	for i in (seq 2 2 (count $found))
		set -a lines $found[$i]\t$found[(math $i + 1)]
	end
	test (count $lines) -gt 0; and string join0 -- $lines | string split0
end
complete -c PROGRAM -f -a '(__PROGRAM_complete)'
