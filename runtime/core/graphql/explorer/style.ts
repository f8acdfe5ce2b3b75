/** How the explorer looks, in light and dark. */
export const style = `
:root { color-scheme: light dark; --line: light-dark(#d9dde3, #33383f); --page: light-dark(#fff, #16191d); --soft: light-dark(#f5f6f8, #1e2227);
  --text: light-dark(#1d2733, #d7dde4); --dim: light-dark(#5e6a78, #8b96a3); --accent: light-dark(#0b62c4, #6cb2ff);
  --keyword: light-dark(#9b1c80, #f08bd8); --field: light-dark(#164a94, #8cc0ff); --string: light-dark(#9a4a00, #eaa35c); --number: light-dark(#0f7a4b, #7cd6a6); --variable: light-dark(#6b4fbb, #b9a3ff); --wrong: light-dark(#b3261e, #ff8a80); }
* { box-sizing: border-box; }
html, body { height: 100%; margin: 0; }
body { display: flex; flex-direction: column; background: var(--page); color: var(--text); font: 14px/1.5 system-ui, sans-serif; }
header { display: flex; gap: 8px; align-items: center; padding: 8px 12px; border-bottom: 1px solid var(--line); background: var(--soft); }
header strong { margin-right: 8px; }
.space { flex: 1; }
#status { color: var(--dim); font-size: 13px; white-space: nowrap; }
button, select, input { font: inherit; color: inherit; background: var(--page); border: 1px solid var(--line); border-radius: 6px; padding: 3px 10px; }
button:hover { border-color: var(--accent); }
button:focus-visible, input:focus-visible, select:focus-visible, a:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
button[aria-pressed=true] { color: var(--accent); border-color: var(--accent); }
#run { background: light-dark(#0b62c4, #2b6fc0); border-color: transparent; color: #fff; font-weight: 600; }
main { flex: 1; display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr) auto; min-height: 0; }
.left { display: flex; flex-direction: column; min-height: 0; border-right: 1px solid var(--line); }
.result { overflow: auto; background: var(--soft); }
aside { width: 340px; border-left: 1px solid var(--line); overflow: auto; padding: 12px 16px; }
aside[hidden], [hidden] { display: none !important; }
.editor { position: relative; flex: 1; min-height: 0; overflow: auto; }
.editor.small { flex: 0 0 26%; }
.editor .inner { position: relative; min-height: 100%; min-width: max-content; }
.editor pre, .editor textarea, #result { margin: 0; padding: 12px 16px; border: 0; font: 13px/1.55 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; tab-size: 2; white-space: pre; }
.editor textarea { position: absolute; inset: 0; width: 100%; height: 100%; resize: none; overflow: hidden; background: none; color: transparent; caret-color: var(--text); outline: none; }
.editor pre { pointer-events: none; min-height: 100%; }
#result { white-space: pre-wrap; overflow-wrap: anywhere; min-height: 100%; outline: none; }
.tabs { display: flex; gap: 4px; padding: 4px 12px 0; border-top: 1px solid var(--line); background: var(--soft); }
.tabs button { border: 0; background: none; border-bottom: 2px solid transparent; border-radius: 0; color: var(--dim); }
.tabs button[aria-selected=true] { color: var(--text); border-color: var(--accent); }
.keyword { color: var(--keyword); } .field, .key { color: var(--field); } .string { color: var(--string); } .number, .literal { color: var(--number); } .variable { color: var(--variable); } .comment { color: var(--dim); font-style: italic; } .directive { color: var(--keyword); }
.wrong { text-decoration: underline wavy var(--wrong); text-underline-offset: 3px; }
#completion { position: fixed; z-index: 9; margin: 0; padding: 4px; list-style: none; max-height: 240px; overflow: auto; background: var(--page); border: 1px solid var(--line); border-radius: 8px; box-shadow: 0 6px 24px #0003; font: 13px ui-monospace, monospace; max-width: 480px; }
#completion li { padding: 3px 8px; border-radius: 5px; display: flex; gap: 16px; justify-content: space-between; cursor: pointer; }
#completion li[aria-selected=true] { background: light-dark(#e6f0fc, #24384f); }
#completion small { color: var(--dim); }
aside h2 { font-size: 16px; margin: 8px 0; overflow-wrap: anywhere; } aside h3 { font-size: 12px; text-transform: uppercase; letter-spacing: .05em; color: var(--dim); margin: 18px 0 4px; }
aside p { margin: 4px 0; color: var(--dim); } aside input { width: 100%; }
aside .entry { padding: 5px 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; font-family: ui-monospace, monospace; font-size: 13px; }
aside .entry p { font: 13px/1.4 system-ui, sans-serif; }
aside a { color: var(--accent); text-decoration: none; cursor: pointer; } aside a:hover { text-decoration: underline; }
aside .old { text-decoration: line-through; }
.past { display: block; width: 100%; text-align: left; margin: 4px 0; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; font: 12px ui-monospace, monospace; }
@media (max-width: 900px) { main { grid-template-columns: 1fr; grid-auto-rows: minmax(200px, 1fr); overflow: auto; } aside { width: auto; border: 0; border-top: 1px solid var(--line); } }
`;
