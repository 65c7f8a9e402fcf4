# Completion for bash: the command itself knows what may stand there.
_xdownload()
{
    local words=() word files= kept=
    # bash cuts --name=value in three, and name=value too.
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        if [[ $word == = && ${words[-1]-} == --* ]]; then
            continue
        elif [[ ${words[-1]-} == [!-]*= || ${words[-1]+$word} == = ]]; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
    done
    if [[ ${words[-1]} == [!-]*=* ]]; then
        kept=${words[-1]%"${words[-1]##*=}"}
    elif [[ ${COMP_WORDS[COMP_CWORD]} == = ]]; then
        words+=('')
    fi

    COMPREPLY=()
    while IFS=$'\t' read -r word _; do
        if [[ $word == / ]]; then
            files=yes
        else
            COMPREPLY+=("${word#"$kept"}")
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
