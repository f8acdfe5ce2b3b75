import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { extname } from 'node:path';

/** A file of the page. */
export interface Asset {
  readonly type: string;
  readonly text: string;
  readonly tag: string;
}

/** The scripts for the browser: TypeScript in a checkout, JavaScript in the package. */
const BROWSER = new URL('./browser/', import.meta.url);

/** The page at `path`, and its scripts and style below `path/explorer/`. */
export async function createAssets(
  path: string,
  name: string,
): Promise<ReadonlyMap<string, Asset>> {
  const files = (await readdir(BROWSER)).filter(
    (file) => /\.(ts|js|css)$/.test(file) && !file.endsWith('.d.ts'),
  );
  const assets = await Promise.all(
    files.map(async (file) => [`${path}/explorer/${file}`, await readAsset(file)] as const),
  );
  const main = files.includes('main.ts') ? 'main.ts' : 'main.js';
  return new Map([[path, asset('text/html', page({ path, name, main }))], ...assets]);
}

/**
 * Strips types as Node does. Modules keep their file names, so that their imports still resolve.
 */
async function readAsset(file: string): Promise<Asset> {
  const text = await readFile(new URL(file, BROWSER), 'utf8');
  const kind = extname(file);
  if (kind === '.css') return asset('text/css', text);
  return asset('text/javascript', kind === '.ts' ? stripTypeScriptTypes(text) : text);
}

const asset = (type: string, text: string): Asset => ({
  type,
  text,
  tag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 20)}"`,
});

const escape = (text: string) => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

const page = ({
  path,
  name,
  main,
}: {
  path: string;
  name: string;
  main: string;
}) => `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>${escape(name)}: GraphQL explorer</title>
  <link rel="icon" href="data:,">
  <link rel="stylesheet" href="${escape(path)}/explorer/explorer.css">
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
  <script type="module" src="${escape(path)}/explorer/${main}"></script>
</body>
</html>
`;
