import { afterAll, describe, expect, it } from 'vitest';
import { generator, linkPackages, makeProject, type TestProject } from '../generator/project.ts';
import { createPageAssets } from '../../runtime/auth/pages/assets.ts';
import { startServer } from './harness.ts';

const made: TestProject[] = [];
afterAll(() => made.forEach((project) => project.remove()));

const pages = (more: object = {}) =>
  ({
    pages: {
      path: '/auth',
      url: null,
      languages: ['en', 'de'],
      theme: { accent: '#2457d6', logo: null, css: null },
      ...more,
    },
  }) as never;

describe('§12 pages of a project', () => {
  it('words of its own replace the built-in ones in one language, and add a language', async () => {
    const texts = { en: { sign_in: '<Log in>' }, nl: { sign_in: 'Inloggen' } };
    const server = await startServer({
      database: 'SQLite',
      auth: pages({ languages: ['en', 'de', 'nl'] }),
      options: { texts },
    });
    const read = async (language: string) => {
      const response = await fetch(`${server.url}/auth/sign-in`, {
        headers: { 'Accept-Language': language },
      });
      return response.text();
    };
    expect(await read('en')).toContain('<h1>&#60;Log in&#62;</h1>');
    expect(await read('en')).toContain('Forgot your password?');
    expect(await read('de')).toContain('<h1>Anmelden</h1>');
    const dutch = await read('nl-BE');
    expect(dutch).toContain('<html lang="nl">');
    expect(dutch).toContain('<h1>Inloggen</h1>');
    expect(dutch).toContain('Forgot your password?');
    await server.close();
  });

  it('theme.logo and theme.css are files of the project, and nothing outside it', async () => {
    const project = makeProject({
      'src/logo.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
      'src/own.css': 'h1 { letter-spacing: 1px }',
    });
    made.push(project);
    const theme = { accent: '#8a1c5b', logo: 'src/logo.svg', css: 'src/own.css' };
    const { files, logo } = await createPageAssets(theme, project.root);
    expect([logo, files.get('logo.svg')]).toMatchObject(['logo.svg', { type: 'image/svg+xml' }]);
    const style = String(files.get('pages.css')!.content);
    expect(style).toMatch(
      /--sans:[^]*:root\{--accent:light-dark\(#8a1c5b,#[^]*h1 \{ letter-spacing: 1px \}$/,
    );
    const outside = { ...theme, logo: '../logo.svg', css: '../../etc/passwd' };
    const { files: none } = await createPageAssets(outside, project.root);
    expect(none.get('logo.svg')!.content).toHaveLength(0);
    expect(String(none.get('pages.css')!.content)).not.toContain('root:x');
  });

  it('pages.url is the origin of the links in mails', async () => {
    const server = await startServer({
      database: 'SQLite',
      auth: pages({ url: 'https://accounts.shop.test/' }),
    });
    await server.register('link@x.test');
    await expect
      .poll(() => server.logs.join(''))
      .toContain('https://accounts.shop.test/auth/verify-email?token=');
    const change = await fetch(`${server.url}/.well-known/change-password`, { redirect: 'manual' });
    expect(change.headers.get('location')).toBe('https://accounts.shop.test/auth/account#password');
    await server.close();
  });
});

describe('§11 generator mails', () => {
  it('lists the mails, previews one, writes one into the project, and generates the imports', async () => {
    const project = makeProject({
      'schema.graphql':
        'type User { id: ID! name: String! email: String! @unique }\ntype Query { users: [User!]! }\n',
      'manifest.yaml': 'name: shop\nauth: {}\n',
    });
    made.push(project);
    linkPackages(project);
    expect((await generator(['generate'], project.root)).code).toBe(0);
    const env = { JWT_SECRET: 'a secret of the tests that is long enough' };
    const mails = (...words: string[]) => generator(['mails', ...words], project.root, env);
    const list = await mails('list');
    expect([list.code, list.stdout]).toEqual([
      0,
      expect.stringMatching(/^reset-password +built-in$/m),
    ]);
    const preview = await mails('preview', 'reset-password', '--locale', 'de');
    expect(preview.stdout).toMatch(/^Subject: .*Passwort[^]*\/auth\/reset-password\?token=/);
    const page = await mails('preview', 'reset-password', '--html');
    expect(page.stdout).toMatch(/<a [^>]*href="[^"]*reset-password\?token=/);
    expect((await mails('preview', 'reset-pasword')).code).toBe(2);
    expect(await mails('eject', 'reset-password')).toMatchObject({ code: 0 });
    expect(project.read('src/mails/reset-password.ts')).toContain(
      "export const mail: Mail<'reset-password'> =",
    );
    const imports = () => Object.values(project.files()).join('\n');
    expect(imports()).toMatch(/from '.*\/mails\/reset-password\.ts'/);
    expect((await mails()).stdout).toContain('src/mails/reset-password.ts');
    expect((await mails('eject', 'reset-password')).code).toBe(2);
    const ours = project
      .read('src/mails/reset-password.ts')
      .replace(/subject: [`'][^`']*[`']/, "subject: 'Our subject'");
    project.write('src/mails/reset-password.ts', ours);
    expect((await mails('preview', 'reset-password')).stdout).toContain('Subject: Our subject');
    const texts = `import type { Texts } from '@twofold/auth';\n\nexport const texts: Texts = { sign_in: 'Log in' };\n`;
    project.write('src/texts/en.ts', texts);
    expect((await generator(['generate'], project.root)).code).toBe(0);
    expect(imports()).toMatch(/from '.*\/texts\/en\.ts'/);
  });
});
