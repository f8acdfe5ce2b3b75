import { fileURLToPath } from 'node:url';
import type { UserConfig } from 'vitepress';
import { packageVersion } from '../../generator/version.ts';
import { root } from '../folders.ts';

type ViteConfig = NonNullable<UserConfig['vite']>;
type Plugin = Extract<NonNullable<ViteConfig['plugins']>[number], { name: string }>;

/** Modules that only Node can run, and the file that takes their place in the browser. */
const IN_THE_BROWSER: Readonly<Record<string, string>> = {
  'schema/parse/load-yaml.ts': 'load-yaml',
  'generator/version.ts': 'version',
  '@twofold/runtime/store': 'store',
  'node:async_hooks': 'async-hooks',
  'node:crypto': 'crypto',
};

/** Sources that run in the playground. */
const OURS = new RegExp(
  `^${root.replaceAll('\\', '/')}(?:schema|templates|generator|runtime|site/playground)/`,
);

/**
 * Bundles the generator for the browser.
 *
 * @throws Error in the build, when code of the playground imports another module of Node.
 */
export function playgroundPlugin(): Plugin {
  return {
    name: 'playground',
    enforce: 'pre',
    config: () => ({ define: { __TWOFOLD_VERSION__: JSON.stringify(packageVersion()) } }),
    async resolveId(source, importer, options) {
      if (importer === undefined || !OURS.test(importer)) return null;
      const other = IN_THE_BROWSER[source];
      if (other !== undefined) return replacement(other);
      if (source.startsWith('node:'))
        throw new Error(`${importer} imports ${source}, which no browser has`);
      const found = await this.resolve(source, importer, { ...options, skipSelf: true });
      const path = found?.id.startsWith(root) ? found.id.slice(root.length) : '';
      return IN_THE_BROWSER[path] === undefined ? found : replacement(IN_THE_BROWSER[path]);
    },
  };
}

const replacement = (name: string) => fileURLToPath(new URL(`browser/${name}.ts`, import.meta.url));
