import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import type { ConsoleModel } from '@twofold/schema';
import type { Kernel } from '@twofold/runtime/kernel';

/** The modules of a project's own pages, as the browser loads them. */
export interface OwnModules {
  /** The file below `modules/`; null for any other name. */
  read(name: string): Promise<OwnModule | null>;
}

export interface OwnModule {
  readonly type: string;
  readonly text: string;
  /** Whether its address changes when its text does. */
  readonly kept: boolean;
}

/** All modules, and a hash of their texts. The hash is a part of their addresses. */
interface Version {
  readonly version: string;
  readonly texts: ReadonlyMap<string, string>;
  /**
   * The modules that were requested, as JavaScript. They are kept, because removing types costs
   * more than sending a module.
   */
  readonly scripts: Map<string, string>;
}

const isModule = (name: string) => /\.[jt]s$/.test(name) && !/\.(test|d)\.[jt]s$/.test(name);

/**
 * Serves the files of `console.pages` as JavaScript: types are left out, and `@twofold/console` is
 * the address of the console's own module. In development each request sees what is saved.
 */
export function createOwnModules(
  { path, ownPages }: Pick<ConsoleModel, 'path' | 'ownPages'>,
  { root, settings }: Pick<Kernel, 'root' | 'settings'>,
  apiAsset: () => Promise<string>,
): OwnModules {
  const { folder, list } = ownPages ?? { folder: 'src/console', list: [] };
  let known: Promise<Version> | undefined;
  const current = () => {
    if (known && settings.production) return known;
    known = readVersion(join(root, folder));
    known.catch(() => (known = undefined));
    return known;
  };
  const listed = async (): Promise<OwnModule> => {
    const { version } = await current();
    const pages = list.map(({ file, ...page }) => ({
      ...page,
      module: `${path}/modules/${version}/${file.slice(folder.length + 1)}`,
    }));
    return { type: 'application/json', text: JSON.stringify({ version, pages }), kept: false };
  };
  return {
    async read(name) {
      if (name === 'list.json') return listed();
      const { version, texts, scripts } = await current();
      const [asked, ...rest] = name.split('/');
      const file = rest.join('/');
      const text = asked === version ? texts.get(file) : undefined;
      if (text === undefined) return null;
      const script = scripts.get(file) ?? toScript(file, text);
      scripts.set(file, script);
      const api = `${path}/${await apiAsset()}`;
      return { type: 'text/javascript', text: withApi(script, api), kept: true };
    },
  };
}

async function readVersion(folder: string): Promise<Version> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const files = names
    .map((name) => name.replaceAll('\\', '/'))
    .filter(isModule)
    .sort();
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
  const hash = createHash('sha256').update(JSON.stringify([files, texts]));
  return {
    version: hash.digest('base64url').replaceAll(/[-_]/g, '').slice(0, 10),
    texts: new Map(files.map((name, at) => [name, texts[at]!])),
    scripts: new Map(),
  };
}

/**
 * A file that cannot be read as TypeScript becomes a module that shows this in place of its page.
 */
function toScript(name: string, text: string): string {
  // Node warns once that this is experimental, which says nothing to those who run the server.
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return name.endsWith('.ts') ? stripTypeScriptTypes(text) : text;
  } catch (error) {
    return `throw new SyntaxError(${JSON.stringify(`${name}: ${(error as Error).message}`)});`;
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** An import or export statement begins its line. Browsers know no names of packages. */
const STATEMENT = /^(\s*(?:import|export)\b[^'"`;]*?)(['"])@twofold\/console\2/gm;
const CALL = /\bimport\(\s*(['"])@twofold\/console\1\s*\)/g;

const withApi = (script: string, api: string): string =>
  script
    .replaceAll(STATEMENT, (_, start: string) => `${start}${JSON.stringify(api)}`)
    .replaceAll(CALL, `import(${JSON.stringify(api)})`);
