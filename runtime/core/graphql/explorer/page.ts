import { createHash } from 'node:crypto';
import { completionScript } from './completion-script.ts';
import { documentationScript } from './documentation-script.ts';
import { editorScript } from './editor-script.ts';
import { languageScript } from './language-script.ts';
import { mainScript } from './main-script.ts';
import { style } from './style.ts';

/** A file of the page. */
export interface Asset {
  readonly type: string;
  readonly text: string;
  readonly tag: string;
}

/** The page at `path` and its own files below it. */
export function createAssets(path: string, name: string): ReadonlyMap<string, Asset> {
  return new Map([
    [path, asset('text/html', page(path, name))],
    [
      `${path}/explorer.js`,
      asset(
        'text/javascript',
        [languageScript, completionScript, editorScript, documentationScript, mainScript].join(
          '\n',
        ),
      ),
    ],
    [`${path}/explorer.css`, asset('text/css', style)],
  ]);
}

const asset = (type: string, text: string): Asset => ({
  type,
  text,
  tag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 20)}"`,
});

const escape = (text: string) => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

const page = (path: string, name: string) => `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>${escape(name)}: GraphQL explorer</title>
  <link rel="icon" href="data:,">
  <link rel="stylesheet" href="${escape(path)}/explorer.css">
</head>
<body data-endpoint="${escape(path)}">
  <header>
    <strong>${escape(name)}</strong>
    <button id="run" title="Run (Ctrl+Enter)">▶ Run</button>
    <select id="operation" title="Which operation to run" hidden></select>
    <button id="prettify" title="Lay the document out anew (Ctrl+Shift+P)">Prettify</button>
    <span class="space"></span>
    <span id="status" role="status"></span>
    <button id="show-history" aria-pressed="false">History</button>
    <button id="show-documentation" aria-pressed="true">Docs</button>
  </header>
  <main>
    <section class="left">
      <div class="editor" id="query" data-language="graphql" data-label="Query"></div>
      <nav class="tabs" role="tablist">
        <button role="tab" data-tab="variables" aria-selected="true">Variables</button>
        <button role="tab" data-tab="headers" aria-selected="false">Headers</button>
      </nav>
      <div class="editor small" id="variables" data-language="json" data-label="Variables"></div>
      <div class="editor small" id="headers" data-language="json" data-label="Headers" hidden></div>
    </section>
    <section class="result" aria-label="Result"><pre id="result" tabindex="0"></pre></section>
    <aside id="side"><div id="documentation"></div><div id="history" hidden></div></aside>
  </main>
  <noscript>This page needs JavaScript.</noscript>
  <script src="${escape(path)}/explorer.js"></script>
</body>
</html>
`;
