import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rolldown, type Plugin } from 'rolldown';

const web = join(import.meta.dirname, 'web');

/** The design that the pages of sign-in and the documentation have too. */
const design = join(import.meta.dirname, '../core/http/design.css');

/** An application for browsers, built from `web/`. */
interface Application {
  readonly document: string;
  /** The modules that begin it, by the name of their file. The document loads the first. */
  readonly input: Readonly<Record<string, string>>;
  /** The folders whose styles it needs, besides those of every page. */
  readonly styles: readonly string[];
}

/** The console, with what pages of a project's own import. */
export const buildConsole = () =>
  build({
    document: 'index.html',
    input: { console: 'main.ts', 'page-api': 'page-api.tsx' },
    styles: ['parts', 'pages'],
  });

/** The explorer: the page of GraphQL alone, which a browser gets at the endpoint. */
export const buildExplorer = () =>
  build({
    document: 'explorer.html',
    input: { explorer: 'explorer.tsx' },
    styles: ['parts', 'pages/graphql'],
  });

/**
 * Makes the document and its files, whose names have a hash of their content. Two builds of the same
 * sources give the same bytes.
 */
async function build({ document, input, styles }: Application): Promise<Map<string, Buffer>> {
  const scripts = await buildScripts(input);
  const style = await readStyles(styles);
  const styleName = `assets/style-${hashOf(style)}.css`;
  const named = (name: string) =>
    scripts.find((script) => script.name.startsWith(`assets/${name}-`))?.name ?? '';
  const html = (await readFile(join(web, document), 'utf8'))
    .replace('%SCRIPT%', named(Object.keys(input)[0] ?? ''))
    .replace('%START%', named('start'))
    .replace('%STYLE%', styleName);
  return new Map<string, Buffer>([
    ['index.html', Buffer.from(html)],
    [styleName, style],
    ...scripts.map(({ name, code }) => [name, Buffer.from(code)] as const),
  ]);
}

/** The styles of every page, then those of one part or page, which stand beside it. */
async function readStyles(folders: readonly string[]): Promise<Buffer> {
  const files = [design, join(web, 'console.css')];
  for (const folder of folders) {
    const names = await readdir(join(web, folder), { recursive: true });
    const styles = names.filter((name) => name.endsWith('.css')).sort();
    files.push(...styles.map((name) => join(web, folder, name)));
  }
  return Buffer.concat(await Promise.all(files.map((file) => readFile(file))));
}

async function buildScripts(input: Application['input']) {
  const bundle = await rolldown({
    input: Object.fromEntries(Object.entries(input).map(([name, file]) => [name, join(web, file)])),
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
      chunk.type === 'chunk' ? [{ name: chunk.fileName, code: chunk.code }] : [],
    );
  } finally {
    await bundle.close();
  }
}

const hashOf = (bytes: Buffer): string =>
  createHash('sha256').update(bytes).digest('base64url').replaceAll(/[-_]/g, '').slice(0, 8);

const TERMINAL = /[\\/]@xterm[\\/]xterm[\\/]lib[\\/]xterm\.mjs$/;
const ADOPTED = join(import.meta.dirname, 'web/pages/apps/adopted-style.ts');

/**
 * Replacements in the package's code: the text that is searched, the text in its place, and how
 * often it occurs.
 */
const CHANGES = [
  { from: /[\w$.]+\.createElement\("style"\)/g, to: 'adoptedStyle()', times: 3 },
  {
    from: /(\w+)\.setAttribute\("style",`\$\{\1\.getAttribute\("style"\)\|\|""\}\$\{(\w+)\};`\)/g,
    to: '$1.style.cssText+=$2',
    times: 1,
  },
] as const;

/**
 * The terminal writes `<style>` elements and `style` attributes, which the policy of the console
 * forbids. Adopted style sheets and properties that a script sets are allowed, and do the same.
 *
 * @throws Error when another version of the terminal writes them in another way
 */
function adoptStyles(): Plugin {
  return {
    name: 'adopt-styles',
    transform(code, id) {
      if (!TERMINAL.test(id)) return null;
      const changed = CHANGES.reduce((text, { from, to, times }) => {
        const found = text.match(from)?.length ?? 0;
        if (found !== times)
          throw new Error(
            `xterm has ${found} and not ${times} places like ${from.source}: compare CHANGES with its new version`,
          );
        return text.replace(from, to);
      }, code);
      return `import { adoptedStyle } from ${JSON.stringify(ADOPTED)};\n${changed}`;
    },
  };
}
