import { BUILT_IN_TEXTS } from './built-in.ts';
import type { MailKind, MailText } from './kinds.ts';

/**
 * Values that are lists, and values that can be empty: their lines are written with a condition.
 */
const LISTS = new Set(['api_keys_ended', 'identities_ended', 'passkeys_ended']);
const EMPTY = new Set([
  'code',
  'device',
  'devices_ended',
  'inviter',
  'ip',
  'sessions_ended',
  'taken_phone',
  'taken_username',
]);

/**
 * The text of `src/mails/<kind>.ts` that sends the same words as the built-in mail: one function,
 * or one for each of several languages.
 */
export function ejectMail(kind: MailKind, languages: readonly string[]): string {
  const known = languages.filter((language) => Object.hasOwn(BUILT_IN_TEXTS, language));
  const [first = 'en', ...more] = known;
  const body =
    more.length === 0
      ? writer(kind, first)
      : `{\n${known.map((each) => `  ${each}: ${indent(writer(kind, each))},`).join('\n')}\n}`;
  return `import { html, type Mail } from '@twofold/auth';

export const mail: Mail<'${kind}'> = ${body};
`;
}

/** A function that returns one mail, or a mail for each value of `change`. */
function writer(kind: MailKind, language: string): string {
  const texts = BUILT_IN_TEXTS[language] as unknown as Readonly<Record<string, MailText>>;
  const variants = Object.keys(texts).filter((key) => key.startsWith(`${kind}:`));
  const plain = content(texts[kind]!);
  if (variants.length === 0) return `(data) => (${plain})`;
  const cases = variants.map(
    (key) =>
      `  if (data.change === '${key.split(':')[1]}')\n    return ${indent(indent(content(texts[key]!)))};`,
  );
  return `(data) => {\n${cases.join('\n')}\n  return ${indent(plain)};\n}`;
}

function content({ subject, body, action, after = [] }: MailText): string {
  const link = action === undefined ? [] : [`${action}:\n{link}`];
  const texts = [...body, ...link, ...after].map((line) => `    ${part(line, '')},`);
  const button =
    action === undefined
      ? []
      : [`    html\`<p><a href="\${data.link}">${escapeTemplate(action)}</a></p>\`,`];
  const paragraphs = [
    ...body.map((line) => `    ${part(line, 'html')},`),
    ...button,
    ...after.map((line) => `    ${part(line, 'html')},`),
  ];
  return `{
  subject: ${template(subject)},
  text: [
${texts.join('\n')}
  ]
    .filter(Boolean)
    .join('\\n\\n'),
  html: html\`\${[
${paragraphs.join('\n')}
  ]}\`,
}`;
}

/** A line as text or as a paragraph, with a condition if one of its values can be empty. */
function part(line: string, tag: '' | 'html'): string {
  const printed = tag === 'html' ? `html${template(`<p>${line}</p>`)}` : template(line);
  const conditions = names(line)
    .filter((name) => LISTS.has(name) || EMPTY.has(name))
    .map((name) => `data.${name}${LISTS.has(name) ? '.length > 0' : ''}`);
  return [...conditions, printed].join(' && ');
}

function template(line: string): string {
  const text = escapeTemplate(line).replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    LISTS.has(name) ? `\${data.${name}.join(', ')}` : `\${data.${name}}`,
  );
  return `\`${text}\``;
}

const names = (line: string) => [...line.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);

const escapeTemplate = (text: string) => text.replaceAll(/[`\\]/g, '\\$&').replaceAll('\n', '\\n');

const indent = (text: string) => text.replaceAll('\n', '\n  ');
