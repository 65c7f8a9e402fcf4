# SPDX-License-Identifier: MIT
# The manual page of a public header, in POD, out of the contracts in it:
#
#     perl header.pl include/xdownload/options.h xd_options.pod
#
# The comment before a declaration becomes its section.  "Ownership:",
# "Threads:", "Blocks:", "Returns:", "Errors:" and "May call:" begin paragraphs.
# A line that begins with "- " begins an item of a list, which ends at an empty
# line or at a label.
use strict;
use warnings;

my ($path, $page) = @ARGV;
my ($folder, $name) = $path =~ m{(?:(\w+)/)?(\w+)\.h$}
    or die "$path is no header\n";
open my $in, '<:encoding(UTF-8)', $path or die "$path: $!\n";
open my $out, '>:encoding(UTF-8)', $page or die "$page: $!\n";
my $text = do { local $/; <$in> };
$text =~ s{\A/\* SPDX.*\n}{};

$text =~ s{^\#ifndef XD_SIZES_BY_HAND\n.*?^\#endif\n}{}ms;

my $COMMENT = qr{/\*.*?\*/}s;
my $WORD = qr{Ownership|Threads|Blocks|Returns|Errors|May call};
my $LABEL = qr{$WORD(?:, $WORD)*};

# Lines that begin with "- " and what follows each of them, as a list of POD.
sub list {
    my ($first, @items) = split /^- /m, $_[0];
    return $first if !@items;
    return "$first\n=over 2\n\n"
        . join('', map { "=item *\n\n" . s{\n+$}{}r . "\n\n" } @items)
        . '=back';
}

# A comment without its stars, as paragraphs of POD.
sub prose {
    my ($comment) = @_;
    $comment =~ s{^/\*\s?|\s*\*/$}{}g;
    $comment =~ s{^[ ]\*[ ]?}{}mg;
    $comment =~ s{^($LABEL):[ ]*}{\n\n$1: }mg;
    my $pod = '';
    for my $paragraph (split /\n\s*\n/, $comment) {
        $paragraph =~ s{^\n+|\s+$}{}g;
        next if $paragraph eq '';
        if ($paragraph !~ /^[ ]{4}/) {
            $paragraph =~ s{[ ]*\n[ ]*}{\n}g;
            $paragraph =~ s{([<>])}{$1 eq '<' ? 'E<lt>' : 'E<gt>'}ge;
            $paragraph =~ s{^($LABEL):}{B<$1:>};
            $paragraph = list($paragraph);
        }
        $pod .= "$paragraph\n\n";
    }
    return $pod;
}

# Declarations as they stand, without what only compilers want; the lines of one
# that go on move with its first.
sub verbatim {
    my ($code) = @_;
    my $shift = 0;
    $code =~ s{\s*XD_PRINTF\([^)]*\)}{}g;
    $code = join "\n", map {
        my $line = $_;
        if ($line =~ s{^((?:XD_API\s+|XD_MUST_CHECK\s+)+)}{}) {
            $shift = length $1;
        } elsif ($shift > 0) {
            $line =~ s{^ {0,$shift}}{};
        }
        $shift = 0 if $line =~ /;/;
        $line;
    } split /\n/, $code;
    $code =~ s{\s+$}{};
    $code =~ s{^(?=.)}{    }mg;
    return "$code\n\n";
}

# What a piece of code declares.
sub names {
    my ($code) = @_;
    $code =~ s{$COMMENT}{}g;
    my @names = map { "$_()" } $code =~ /\b(xd_\w+)\(/g;
    push @names, $code =~ /^((?:struct|enum) \w+) \{/mg;
    return @names;
}

my ($about) = $text =~ m{^($COMMENT)};
my @functions = $text =~ m{XD_API[^;(]*?\b(xd_\w+)\(}g;
$text =~ s{^$COMMENT\n}{};
$text =~ s{^\#(?:[^\n]*\\\n)*[^\n]*\n}{}mg; # the preprocessor's
$text =~ s{^XD_(?:BEGIN|END)_DECLS\n}{}mg;

my $sections = '';
for my $chunk (split /\n\s*\n(?=\S)/, $text) { # not within a struct
    $chunk =~ s{^\s+|\s+$}{}g;
    next if $chunk eq '';
    my $comment = $chunk =~ s{^($COMMENT)\s*}{} ? $1 : '';
    next if $chunk =~ m{^(?:struct \w+;\n?)+$} && $comment eq '';
    my @names = names($chunk);
    $sections .= '=head2 ' . join(', ', @names) . "\n\n" if @names;
    $sections .= verbatim($chunk) if $chunk ne '';
    $sections .= prose($comment) if $comment ne '';
}

my $list = join ', ', "xd_$name", grep { $_ ne "xd_$name" } @functions;
print {$out} "=encoding utf8\n\n=head1 NAME\n\n$list - functions of libxdownload\n\n",
    "=head1 SYNOPSIS\n\n    #include <$folder/$name.h>\n\n",
    defined $about ? '=head1 DESCRIPTION' . "\n\n" . prose($about) : '',
    "=head1 FUNCTIONS AND TYPES\n\n$sections",
    "=head1 SEE ALSO\n\nlibxdownload(3)\n\n=cut\n";
close $out or die "$page: $!\n";
