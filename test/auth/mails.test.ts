import { describe, expect, it } from 'vitest';
import { html } from '../../runtime/auth/mails/html.ts';
import { BUILT_IN_TEXTS, builtInMail, MAIL_KINDS } from '../../runtime/auth/mails/built-in.ts';
import type { Mailer } from '../../runtime/auth/mails/mail.ts';
import { createMails } from '../../runtime/auth/mails/mails.ts';
import { mailName } from '../../runtime/auth/mails/html.ts';
import { ejectMail } from '../../runtime/auth/mails/eject.ts';
import { SAMPLE_USER, sampleData } from '../../runtime/auth/mails/samples.ts';
import { startServer } from './harness.ts';

const data = sampleData('https://shop.test/auth');
const context = { app: 'Shop', user: SAMPLE_USER };

it('acceptance 11: every kind is previewed in every language, with text, HTML and no placeholder', () => {
  expect(MAIL_KINDS).toHaveLength(20);
  for (const kind of MAIL_KINDS)
    for (const locale of Object.keys(BUILT_IN_TEXTS)) {
      const {
        subject,
        text,
        html: body,
      } = builtInMail(kind, { ...context, locale, ...data[kind] } as never);
      expect(subject.length, `${kind} ${locale}`).toBeGreaterThan(5);
      expect(`${subject}${text}`).not.toMatch(/\{\w+\}|undefined|null/);
      expect(String(body)).toContain(`lang="${locale}"`);
      const { link } = data[kind] as { link?: string };
      if (link) expect([text.includes(link), String(body).includes(link)]).toEqual([true, true]);
    }
});

it('every kind is written to a file of TypeScript, in one language or several', () => {
  for (const kind of MAIL_KINDS) {
    const source = ejectMail(kind, ['en', 'de']);
    expect(source).toContain(`export const mail: Mail<'${kind}'> = {`);
    expect(ejectMail(kind, ['fr'])).toContain('(data) => ');
  }
});

it('values in HTML are escaped', () => {
  const hostile = { ...data['invitation'], organization: '<b onclick="x">&</b>' };
  const { html: body } = builtInMail('invitation', { ...context, locale: 'en', ...hostile });
  expect(String(body)).not.toContain('<b onclick');
  expect(String(html`<p title="${'"'}">${'<i>'}${html`<b>${'&'}</b>`}</p>`)).toBe(
    '<p title="&#34;">&#60;i&#62;<b>&#38;</b></p>',
  );
});

it('names are shown without links, lines and marks, in the mails of a project too', () => {
  const shown = {
    'Ada Lovelace': 'Ada Lovelace',
    "O'Neill-Čapek 2": "O'Neill-Čapek 2",
    ' Looms & Sons, Ltd. ': 'Looms Sons Ltd',
    'Dr. Ada': 'Dr Ada',
    'evil.test': '',
    'evil . test': 'evil test',
    'evil。test': '',
    'https:evil': '',
    'a/b': '',
    'ada@x.test': '',
    'Ada\nYour account': '',
    '<b>Ada</b>': '',
    ['a'.repeat(60)]: 'a'.repeat(40),
  };
  expect(Object.fromEntries(Object.keys(shown).map((name) => [name, mailName(name)]))).toEqual(
    shown,
  );
  const sent: string[] = [];
  const mails = createMails({
    app: 'Shop',
    pages: false,
    own: {
      'change-email': ({ user }) => ({
        subject: 's',
        text: `${user!.first_name}|${user!.last_name}`,
      }),
    },
    mailer: { send: ({ text }) => void sent.push(text) } as Mailer,
    log: { error: (_, message) => expect.fail(message) },
  });
  const account = { ...SAMPLE_USER, first_name: 'Log in at evil.test', last_name: 'Hopper!' };
  mails.send('change-email', { to: 'x@x.test', account }, data['change-email']);
  expect(sent).toEqual(['|Hopper']);
});

describe('§11 mails of a project', () => {
  it("acceptance 11: a mail of one's own in two languages; one that throws sends the built-in text and names the file", async () => {
    const server = await startServer({
      database: 'SQLite',
      auth: {
        pages: {
          path: '/auth',
          url: null,
          languages: ['en', 'de'],
          theme: { accent: '#2457d6', logo: null, css: null },
        },
      } as never,
      options: {
        mails: {
          'reset-password': {
            en: ({ link }) => ({ subject: 'Ours', text: `Ours: ${link}` }),
            de: ({ link }) => ({ subject: 'Unsere', text: `Unsere: ${link}` }),
          },
          'verify-email': () => {
            throw new Error('no template');
          },
          'account-exists': () => ({ subject: 'Only a subject', text: '' }),
        },
      },
    });
    const mails = () =>
      server.logs.filter((line) => line.includes('"mail":')).map((line) => JSON.parse(line).mail);
    await server.call(
      'POST',
      '/api/auth/register',
      { email: 'a@x.test', password: 'correct horse battery staple' },
      { 'Accept-Language': 'de-CH, en;q=0.5' },
    );
    await expect
      .poll(() => mails().map(({ subject }) => subject))
      .toEqual(['Bestätige deine E-Mail-Adresse']);
    expect(server.logs.join('')).toContain(
      'src/mails/verify-email.ts failed: the built-in mail was sent',
    );
    for (const language of ['de', 'en'])
      await server.call(
        'POST',
        '/api/auth/forgot-password',
        { email: 'a@x.test' },
        { 'Accept-Language': language },
      );
    await expect
      .poll(() =>
        mails()
          .map(({ subject }) => subject)
          .toSorted(),
      )
      .toEqual(['Bestätige deine E-Mail-Adresse', 'Ours', 'Unsere']);
    await server.close();
  });
});
