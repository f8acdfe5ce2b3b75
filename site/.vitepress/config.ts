import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { output, stagedPages } from '../folders.ts';
import { sidebarOf } from '../sidebar.ts';
import { sitePages } from '../stage.ts';
import { codeTheme, withClasses } from '../code-theme.ts';
import { withFileNames } from '../file-names.ts';
import { withPlainBlocks } from '../plain-blocks.ts';
import { withPolicy } from '../policy.ts';
import { playgroundPlugin } from '../playground/vite-plugin.ts';

const NAVIGATION = [
  { text: 'First hour', link: '/start/from-nothing', activeMatch: '^/start/' },
  { text: 'How to', link: '/how-to/', activeMatch: '^/how-to/' },
  { text: 'Reference', link: '/reference/commands', activeMatch: '^/reference/' },
  { text: 'Playground', link: '/playground' },
];

/** The id of a heading as GitHub makes it, so that a link to it works in both places. */
const githubSlug = (heading: string) =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');

/** Where the site is on its host, with a slash at both ends. */
const base = process.env['DOCS_BASE'] ?? '/';

/** Everything is served by the site itself: no font, script or index of another host. */
export default defineConfig({
  title: 'Twofold',
  description: 'Two files in, a server you own out: a typed Koa project from a GraphQL schema.',
  lang: 'en',
  base,
  srcDir: stagedPages,
  outDir: output,
  cacheDir: fileURLToPath(new URL('../../.build/site/cache', import.meta.url)),
  metaChunk: true,
  head: [
    ['meta', { name: 'referrer', content: 'no-referrer' }],
    ['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}favicon.svg` }],
  ],
  // Otherwise each change of the scheme adds a `<style>` element, which the policy refuses.
  appearance: { disableTransition: false },
  markdown: {
    theme: codeTheme,
    anchor: { slugify: githubSlug },
    config: (md) => {
      withClasses(md);
      withPlainBlocks(md);
      withFileNames(md);
    },
  },
  transformHtml: withPolicy,
  themeConfig: {
    nav: NAVIGATION,
    sidebar: sidebarOf(sitePages()),
    search: { provider: 'local', options: { detailedView: false } },
    outline: [2, 3],
    docFooter: { prev: 'Before', next: 'Next' },
    footer: { message: 'MIT licence' },
    externalLinkIcon: true,
  },
  vite: {
    plugins: [playgroundPlugin()],
    // The index of the search and the playground are loaded when they are asked for.
    build: { chunkSizeWarningLimit: 2000 },
    worker: { format: 'es', plugins: () => [playgroundPlugin()] },
  },
});
