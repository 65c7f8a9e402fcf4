# Completion for bash: the command itself knows what may stand there.
_xdownload()
{
    local words=() word last= files= kept= n=0
    # bash cuts --name=value in three, and name=value too.  An index of -1 would be an
    # error where there are no words yet, and in bash 4.2 always.
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        if [[ $word == = && $last == --* ]]; then
            continue
        elif [[ $last == [!-]*= || ($n != 0 && $word == =) ]]; then
            last+=$word
            words[n - 1]=$last
        else
            last=$word
            words[n++]=$last
        fi
    done
    if [[ $last == [!-]*=* ]]; then
        kept=${last%"${last##*=}"}
    elif [[ ${COMP_WORDS[COMP_CWORD]} == = ]]; then
        last=
        words[n++]=
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
            < <(compgen -f -- "$last")
    fi
}
complete -F _xdownload xdownload
