export const style = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#ffffff, #14171c);
  --panel: light-dark(#f6f7f9, #1b1f26);
  --line: light-dark(#dde1e7, #2e343d);
  --text: light-dark(#1d2530, #dde3ea);
  --quiet: light-dark(#566170, #98a3b1);
  --link: light-dark(#0b57a8, #7db7f5);
  --good: light-dark(#14713d, #63cf92);
  --bad: light-dark(#a53125, #f2958b);
  --code: light-dark(#eef0f4, #242a33);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--ground); color: var(--text); }
body { display: grid; grid-template-columns: 19rem minmax(0, 1fr); }
a { color: var(--link); }
nav a, h2 a, h3 a { text-decoration: none; }
:is(nav, h2, h3) a:hover { text-decoration: underline; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: 1rem; background: var(--ground); padding: .5rem; }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem 1rem 3rem 1.5rem; }
nav { background: var(--panel); border-right: 1px solid var(--line); font-size: .875rem; line-height: 1.35; }
nav strong { font-size: 1.05rem; }
nav h2 { margin: 1.4rem 0 .3rem; font-size: .75rem; letter-spacing: .06em; text-transform: uppercase; }
nav h2 { border: 0; padding: 0; }
nav h2 a { color: var(--quiet); }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li a { display: grid; grid-template-columns: 3.4rem 1fr; align-items: baseline; padding: .22rem 0; }
nav li a { color: inherit; }
main { padding: 2.5rem 3rem 6rem; max-width: 62rem; }
h1 { margin: 0 0 1rem; font-size: 2rem; line-height: 1.2; letter-spacing: -.01em; }
h2 { margin: 4rem 0 .5rem; padding-bottom: .4rem; border-bottom: 1px solid var(--line); font-size: 1.5rem; }
h3 { margin: 0 0 .5rem; font-size: 1.15rem; }
h4 { margin: 1.5rem 0 .4rem; font-size: .9rem; }
h2 a, h3 a { color: inherit; }
p { margin: .5rem 0; max-width: 46rem; }
article { margin: 2.75rem 0; }
section.schema { margin: 2.5rem 0; }
code, pre { font: .875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; }
code { background: var(--code); border-radius: 4px; padding: .1em .3em; overflow-wrap: anywhere; }
pre { margin: .35rem 0; padding: .6rem .8rem; background: var(--code); border-radius: 6px; overflow-x: auto; }
small, .quiet, .access { color: var(--quiet); font-size: .8125rem; }
.access code { font-size: .8125rem; }
.path { display: flex; gap: .6rem; align-items: baseline; padding: .5rem .7rem; background: var(--panel);
  border: 1px solid var(--line); border-radius: 6px; max-width: none; }
.path code { background: none; padding: 0; font-size: .9375rem; }
.method { font: 700 .6875rem/1.6 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; letter-spacing: .03em; }
.get { color: light-dark(#0b57a8, #7db7f5); }
.post { color: light-dark(#14713d, #63cf92); }
.patch { color: light-dark(#8a5300, #e8b264); }
.delete { color: light-dark(#a53125, #f2958b); }
.wide { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .5rem .9rem .5rem 0; }
th, td { border-top: 1px solid var(--line); font-weight: 400; }
thead th { border-top: 0; padding-bottom: .25rem; color: var(--quiet); font-size: .75rem; font-weight: 600; }
tbody th { width: 30%; }
td.type { width: 27%; }
td p { margin: 0 0 .3rem; }
td p:last-child { margin-bottom: 0; }
.answers th { width: 4rem; }
.said { display: flex; flex-wrap: wrap; gap: .3rem; }
.said code { font-size: .78rem; }
.required { color: var(--bad); font-size: .75rem; white-space: nowrap; }
.status { font: 600 .9rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.good { color: var(--good); }
.bad { color: var(--bad); }
details summary { cursor: pointer; color: var(--link); font-size: .8125rem; width: fit-content; }
@media (max-width: 56rem) {
  body { display: block; }
  nav { position: static; height: auto; max-height: 30vh; border-right: 0; border-bottom: 1px solid var(--line); }
  main { padding: 1.5rem 1rem 4rem; }
  tbody th, td.type { width: auto; }
}
@media print { nav { display: none; } body { display: block; } }
`;
