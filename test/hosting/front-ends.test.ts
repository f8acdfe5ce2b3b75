import { describe, expect, it } from 'vitest';
import { generateDockerfile } from '../../runtime/hosting/source/generate.ts';
import type { GeneratorSettings } from '../../runtime/hosting/source/project-files.ts';

/** Generates for a source with these files. */
function made(files: Record<string, unknown>, settings: Partial<GeneratorSettings> = {}) {
  const texts = Object.fromEntries(
    Object.entries(files).map(([path, content]) => [
      path,
      typeof content === 'string' ? content : JSON.stringify(content),
    ]),
  );
  const found = generateDockerfile(
    {
      has: (path) => path in texts,
      text: (path) => texts[path],
      find: (pattern) => Object.keys(texts).find((path) => pattern.test(path)),
    },
    { output: null, args: [], secrets: [], ...settings },
  );
  const [, folders] = /RUN for folder in (.*?); do/.exec(found?.text ?? '') ?? [];
  const [, mode] = /"\/www","(\w+)"/.exec(found?.text ?? '') ?? [];
  return {
    kind: found?.kind,
    folders: folders?.replaceAll("'", ''),
    mode,
    text: found?.text ?? '',
  };
}

const build = { build: 'make' };
const uses = (name: string, scripts: object = build) => ({
  scripts,
  devDependencies: { [name]: '1' },
});

describe('a front end without a Dockerfile', () => {
  const angular = (options: object) => ({
    projects: { lib: { projectType: 'library' }, shop: { architect: { build: { options } } } },
  });
  it.each<[string, Record<string, unknown>, string, string, string]>([
    ['Vite', { 'package.json': uses('vite') }, 'Vite (npm)', 'dist', 'app'],
    [
      'Vite with its own folder',
      {
        'package.json': uses('vite'),
        'vite.config.ts': "// outDir: 'no'\nbuild: { outDir: './web/' }",
      },
      ...(['Vite (npm)', 'web', 'app'] as const),
    ],
    [
      'Vite that is only previewed',
      { 'package.json': uses('vite', { ...build, start: 'vite preview --host' }) },
      ...(['Vite (npm)', 'dist', 'app'] as const),
    ],
    [
      'Create React App, whose start is for development',
      {
        'package.json': uses('react-scripts', { ...build, start: 'react-scripts start' }),
        'yarn.lock': '',
      },
      ...(['Create React App (yarn)', 'build', 'app'] as const),
    ],
    [
      'Angular',
      {
        'package.json': uses('@angular/cli', { ...build, start: 'ng serve' }),
        'angular.json': angular({}),
      },
      ...(['Angular (npm)', 'dist/shop/browser dist/shop', 'app'] as const),
    ],
    [
      'Angular with a path',
      {
        'package.json': uses('@angular/build'),
        'angular.json': angular({ outputPath: { base: 'out', browser: '' } }),
      },
      ...(['Angular (npm)', 'out', 'app'] as const),
    ],
    ['Astro', { 'package.json': uses('astro') }, 'Astro (npm)', 'dist', 'pages'],
    [
      'SvelteKit as files',
      {
        'package.json': uses('@sveltejs/kit'),
        'svelte.config.js': "import a from '@sveltejs/adapter-static'",
      },
      ...(['SvelteKit (npm)', 'build', 'pages'] as const),
    ],
    [
      'Next.js as files',
      {
        'package.json': uses('next', { ...build, start: 'next start' }),
        'next.config.mjs': "export default { output: 'export' }",
      },
      ...(['Next.js (npm)', 'out', 'pages'] as const),
    ],
    ['Eleventy', { 'package.json': uses('@11ty/eleventy') }, 'Eleventy (npm)', '_site', 'pages'],
    [
      'Docusaurus',
      { 'package.json': uses('@docusaurus/core') },
      'Docusaurus (npm)',
      'build',
      'pages',
    ],
    ['Gatsby', { 'package.json': uses('gatsby') }, 'Gatsby (npm)', 'public', 'pages'],
    [
      'a tool of its own',
      { 'package.json': { scripts: build }, 'index.js': '' },
      ...(['a front end (npm)', 'dist build out _site', 'pages'] as const),
    ],
  ])('%s is served from where it writes', (_, files, kind, folders, mode) => {
    expect(made(files)).toMatchObject({ kind, folders, mode });
  });

  it.each<[string, Record<string, unknown>]>([
    ['a start script', { 'package.json': { scripts: { ...build, start: 'node a.js' } } }],
    ['Vite with a server', { 'package.json': uses('vite', { ...build, start: 'node server.js' }) }],
    ['a Procfile', { 'package.json': { scripts: build }, Procfile: 'web: node a.js' }],
    [
      'Next.js with a server',
      {
        'package.json': uses('next', { ...build, start: 'next start' }),
        'next.config.js': "// output: 'export'",
      },
    ],
    [
      'Astro with a server',
      {
        'package.json': uses('astro', { ...build, start: 'node dist' }),
        'astro.config.mjs': "output: 'server'",
      },
    ],
  ])('is none: %s makes a server', (_, files) => {
    expect(made(files)).toMatchObject({ kind: 'node (npm)', folders: undefined });
  });

  it('takes the folder that the user names, also against a start script', () => {
    const files = { 'package.json': { scripts: { ...build, start: 'node a.js' } } };
    expect(made(files, { output: "it's/here" })).toMatchObject({ mode: 'pages' });
    expect(made(files, { output: "it's/here" }).text).toContain(
      `for folder in 'it'\\''s/here'; do`,
    );
  });

  it('gets arguments and secrets, which are in no layer', () => {
    const { text } = made(
      { 'package.json': uses('vite'), 'package-lock.json': '{}' },
      { args: ['VITE_API'], secrets: ['NPM_TOKEN'] },
    );
    expect(text).toContain('COPY . .\nARG VITE_API\nRUN');
    expect(text).toContain(
      'RUN --mount=type=secret,id=NPM_TOKEN NPM_TOKEN="$(cat /run/secrets/NPM_TOKEN)" && export NPM_TOKEN && { npm ci --no-audit --no-fund; }',
    );
    expect(text).not.toMatch(/ENV NPM_TOKEN|ARG NPM_TOKEN/);
  });
});
