# Completion for bash: the command itself knows what may stand there.
_xdownload()
{
    local words=() word files=
    # bash cuts --name=value in three.
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        [[ $word == = && ${words[-1]-} == --* ]] || words+=("$word")
    done
    [[ ${COMP_WORDS[COMP_CWORD]} != = ]] || words+=('')

    COMPREPLY=()
    while IFS=$'\t' read -r word _; do
        if [[ $word == / ]]; then
            files=yes
        else
            COMPREPLY+=("$word")
            [[ $word != *= ]] || compopt -o nospace
        fi
    done < <("$1" __complete "${words[@]}" 2>/dev/null)
    [[ $files ]] || return
    if [[ ${#COMPREPLY[@]} == 0 ]]; then
        compopt -o default # readline knows more of names of files
    else
        compopt -o filenames
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY \
            < <(compgen -f -- "${words[-1]}")
    fi
}
complete -F _xdownload xdownload
