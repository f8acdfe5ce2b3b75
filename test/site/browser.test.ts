import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import {
  type Browser,
  type BrowserContext,
  chromium as browsers,
  type Page,
} from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readSources } from '../../generator/read.ts';
import { run } from '../../generator/pipeline.ts';
import { disk } from '../../generator/write/disk.ts';
import { output } from '../../site/folders.ts';
import type { PlaygroundOutput } from '../../site/playground/generate.ts';
import { chromium, describeWith } from '../engines/available.ts';
import { generator, makeProject } from '../generator/project.ts';
import { type BuiltSite, buildSite } from './built-site.ts';
import { type Sample, sampleSchemas } from './sample-schemas.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** One page of each kind. */
const MAIN = [
  '/',
  '/start/from-nothing',
  '/how-to/',
  '/auth/sign-in',
  '/files/findings',
  '/reference/errors',
  '/playground',
];

describeWith('chromium', 'the site of the documentation', () => {
  let site: BuiltSite;
  let browser: Browser;
  const problems: string[] = [];
  beforeAll(async () => {
    [site, browser] = await Promise.all([
      buildSite(),
      browsers.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] }),
    ]);
  });
  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });

  /** A page on which nothing may go wrong: no other host, no refusal of the policy, no error. */
  const open = async (context: BrowserContext, path: string): Promise<Page> => {
    const page = await context.newPage();
    page.on('request', (each) => {
      if (!/^(data|blob):/.test(each.url()) && !each.url().startsWith(site.url))
        problems.push(each.url());
    });
    page.on('console', (each) => {
      // A container that starts on this machine changes its network, which ends what Chromium loads.
      const isOfMachine = each.text().includes('ERR_NETWORK_CHANGED');
      if (['error', 'warning'].includes(each.type()) && !isOfMachine)
        problems.push(`${path}: ${each.text()}`);
    });
    page.on('pageerror', (error) => problems.push(`${path}: ${error}`));
    await page.goto(`${site.url}${path}`, { waitUntil: 'networkidle' });
    return page;
  };

  it('is built without a warning', () => {
    expect(site.said).toContain('built  ');
    expect(site.said).not.toMatch(/warn|deprecat|dead link/i);
  });

  it.each(MAIN)(
    'has nothing that axe finds in light and dark on %s, and fits 320 px',
    async (path) => {
      // A colour that is on its way from light to dark is none that a reader sees.
      const context = await browser.newContext({ reducedMotion: 'reduce' });
      const page = await open(context, path);
      if (path === '/playground') await page.getByText('resolver of each field').first().waitFor();
      await page.evaluate(axe);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await expect.poll(() => page.evaluate(IS_DARK)).toBe(colorScheme === 'dark');
        expect(await page.evaluate(FINDINGS)).toEqual([]);
      }
      await page.setViewportSize({ width: 320, height: 700 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
      await context.close();
    },
  );

  it('finds a page by its words when the network is cut', async () => {
    const context = await browser.newContext();
    const page = await open(context, '/');
    await page.keyboard.press('Control+k');
    await page.getByRole('searchbox').waitFor();
    await page.waitForLoadState('networkidle');
    await context.setOffline(true);
    await page.getByRole('searchbox').fill('passkey');
    await page.locator('#localsearch-list').getByText('Passkeys').first().waitFor();
    await context.close();
  });

  it('goes on in the playground when the network is cut: findings, SQL and migrations', async () => {
    const context = await browser.newContext();
    const page = await open(context, '/playground');
    const editor = page.getByRole('textbox', { name: 'schema.graphql' });
    await page.getByRole('textbox', { name: 'src/generated/resolvers.ts' }).waitFor();
    await context.setOffline(true);
    await page.getByRole('tab', { name: 'Migrations' }).click();
    await page.getByText("kind: 'createTable'").first().waitFor();
    await page.getByRole('button', { name: 'Save it' }).click();
    await page.getByText('The saved migrations make every table').waitFor();
    await editor.fill(
      'type Author { id: ID! name: String! born: Int }\ntype Query { authors: [Author!]! }',
    );
    await page.getByText("name: 'born'").first().waitFor();
    await page.getByRole('tab', { name: 'SQL' }).click();
    await page.getByRole('radio', { name: 'PostgreSQL' }).check();
    await page.getByText('generated by default as identity').first().waitFor();
    await editor.fill('type Query { authors: [Auhtor!]! }\ntype Author { id: ID! }');
    await page.getByText('TYPE_UNKNOWN').waitFor();
    await page.getByRole('button', { name: /^schema\.graphql:1:/ }).click();
    expect(await page.evaluate(FOCUSED)).toBe('schema.graphql');
    await context.close();
  });

  it('writes in the browser what the command line writes, byte for byte, for each of 50 schemas and more', async () => {
    const samples = sampleSchemas();
    expect(samples.length).toBeGreaterThan(50);
    const context = await browser.newContext();
    const page = await open(context, '/playground');
    const worker = readdirSync(join(output, 'assets')).find((name) => /^worker-.*\.js$/.test(name));
    await page.evaluate(`globalThis.thread = new Worker('/assets/${worker}', { type: 'module' })`);
    await page.evaluate(runInWorker, [{ schema: '', manifest: '', migrations: [] }]);
    await context.setOffline(true);
    const made = await page.evaluate(
      runInWorker,
      samples.map(({ schema, manifest }) => ({ schema, manifest, migrations: [] })),
    );
    for (const [at, sample] of samples.entries())
      expect([sample.name, filesOf(made[at]!)]).toEqual([sample.name, await written(sample)]);
    await context.close();
  }, 240_000);

  it('writes what the program itself writes', async () => {
    const [sample] = sampleSchemas();
    const project = makeProject({
      'schema.graphql': sample!.schema,
      'manifest.yaml': sample!.manifest,
    });
    expect((await generator(['generate'], project.root)).code).toBe(0);
    expect(ofProject(project.files())).toEqual(await written(sample!));
    project.remove();
  });

  it('asked no other host for anything, and its policy refused nothing', () => {
    expect(problems).toEqual([]);
  });
});

const IS_DARK = `document.documentElement.classList.contains('dark')`;
const FINDINGS = `axe.run().then(({ violations }) =>
  violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ' ' + html.slice(0, 200))))`;
const FOCUSED = `document.activeElement.shadowRoot.activeElement.ariaLabel`;

/** Runs in the page: the same thread as the playground's, one input after the other. */
async function runInWorker(inputs: readonly object[]): Promise<PlaygroundOutput[]> {
  const { thread } = globalThis as any;
  const outputs: PlaygroundOutput[] = [];
  for (const [id, input] of inputs.entries()) {
    // A thread has no origin.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    thread.postMessage({ id, input });
    const { data } = await new Promise<MessageEvent>((resolve, reject) => {
      thread.addEventListener('message', resolve, { once: true });
      thread.addEventListener('error', (error: Error) => reject(new Error(error.message)));
    });
    if (!data.output) throw new Error(data.failure);
    outputs.push(data.output);
  }
  return outputs;
}

const filesOf = ({ files }: PlaygroundOutput) =>
  Object.fromEntries(files.map(({ file, text }) => [file, text]).toSorted());

/** What a run of the command line writes: the stages of `generate`, over a folder of its own. */
async function written({ schema, manifest }: Sample): Promise<Record<string, string>> {
  const project = makeProject({ 'schema.graphql': schema, 'manifest.yaml': manifest });
  try {
    await run(project.root, {}, disk);
    expect((await readSources(project.root)).schema).toHaveLength(1);
    return ofProject(project.files());
  } finally {
    project.remove();
  }
}

/** Without the two inputs, and what the command line notes for itself. */
const ofProject = (files: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(files)
      .filter(
        ([path]) =>
          !/^(schema\.graphql|manifest\.yaml|generator\.lock|\.generator\/.*)$/.test(path),
      )
      .toSorted(),
  );
