# An update in place reads one version and writes the next.
sh -c 'echo abc > data'
sed -n 1p data 1<> data
