import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { adoptStyles } from './adopt-styles.ts';

const web = join(import.meta.dirname, 'web');

/** The design that the explorer, the pages of sign-in and the documentation have too. */
const design = join(import.meta.dirname, '../core/graphql/explorer/browser/design.css');

/**
 * Builds the application from `web/`: the document and its files, whose names have a hash of their
 * content. Two builds of the same sources give the same bytes.
 */
export async function buildAssets(): Promise<ReadonlyMap<string, Buffer>> {
  const scripts = await buildScripts();
  const style = await readStyles();
  const styleName = `assets/console-${hashOf(style)}.css`;
  const entry = scripts.find(
    ({ name, isEntry }) => isEntry && name.startsWith('assets/console-'),
  )!.name;
  const html = (await readFile(join(web, 'index.html'), 'utf8'))
    .replace('%SCRIPT%', entry)
    .replace('%START%', scripts.find(({ name }) => name.startsWith('assets/start-'))!.name)
    .replace('%STYLE%', styleName);
  return new Map<string, Buffer>([
    ['index.html', Buffer.from(html)],
    [styleName, style],
    ...scripts.map(({ name, code }) => [name, Buffer.from(code)] as const),
  ]);
}

/** The styles of every page, then those of one part or page, which stand beside it. */
async function readStyles(): Promise<Buffer> {
  const files = [design, join(web, 'console.css')];
  for (const folder of ['parts', 'pages']) {
    const names = await readdir(join(web, folder), { recursive: true });
    const styles = names.filter((name) => name.endsWith('.css')).sort();
    files.push(...styles.map((name) => join(web, folder, name)));
  }
  return Buffer.concat(await Promise.all(files.map((file) => readFile(file))));
}

async function buildScripts() {
  const bundle = await rolldown({
    input: { console: join(web, 'main.ts'), 'page-api': join(web, 'page-api.tsx') },
    platform: 'browser',
    // The terminal adopts the style sheet of its package.
    moduleTypes: { '.css': 'text' },
    plugins: [adoptStyles()],
    logLevel: 'warn',
    resolve: {
      alias: { 'vscode-languageserver-types': join(web, 'parts/language-server-types.ts') },
    },
  });
  try {
    const { output } = await bundle.generate({
      format: 'esm',
      minify: true,
      entryFileNames: 'assets/[name]-[hash].js',
      chunkFileNames: 'assets/[name]-[hash].js',
    });
    return output.flatMap((chunk) =>
      chunk.type === 'chunk'
        ? [{ name: chunk.fileName, code: chunk.code, isEntry: chunk.isEntry }]
        : [],
    );
  } finally {
    await bundle.close();
  }
}

const hashOf = (bytes: Buffer): string =>
  createHash('sha256').update(bytes).digest('base64url').replaceAll(/[-_]/g, '').slice(0, 8);
