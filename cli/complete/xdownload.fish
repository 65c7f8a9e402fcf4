# Completion for fish: the command itself knows what may stand there.
function __xdownload_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l lines ($words[1] __complete $words[2..-1] 2>/dev/null)
    string match -v / -- $lines
    if contains / $lines
        __fish_complete_path (commandline -ct)
    end
end
complete -c xdownload -f -a '(__xdownload_complete)'
