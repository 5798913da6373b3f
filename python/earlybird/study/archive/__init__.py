"""
Archives of studies: one file with definition, runs, results, verdicts and pictures, to be cited and checked.

`container` knows the file, `packing` what goes into it, `reading` what is in it; `rerun` makes its runs again,
`comparison` sets results side by side, `judgement` verdicts, and `checking` puts these together.
"""
