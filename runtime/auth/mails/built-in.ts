import { html, type Html } from './html.ts';
import type { MailContent, MailContext, MailData, MailKind, MailText, MailTexts } from './kinds.ts';
import { de } from './texts/de.ts';
import { en } from './texts/en.ts';
import { es } from './texts/es.ts';
import { fr } from './texts/fr.ts';

/** The languages that have a text for every kind. */
export const BUILT_IN_TEXTS: Readonly<Record<string, MailTexts>> = { en, de, fr, es };

/** All kinds of mails. */
export const MAIL_KINDS = Object.keys(en).filter((key) => !key.includes(':')) as MailKind[];

/** A value of a mail's data. */
type Value = string | number | readonly string[] | null | undefined;
type Values = Readonly<Record<string, unknown>>;

/** Writes a mail with the built-in text. */
export function builtInMail<Kind extends MailKind>(
  kind: Kind,
  data: MailContext & MailData[Kind],
): MailContent {
  const values = data as unknown as Values;
  const text = textOf(data.locale, kind, values['change']);
  const body = fillAll(text.body, values);
  const after = fillAll(text.after ?? [], values);
  const link = text.action && values['link'] ? String(values['link']) : null;
  return {
    subject: fill(text.subject, values) ?? '',
    text: `${[...body, ...(link ? [`${text.action}:\n${link}`] : []), ...after].join('\n\n')}\n`,
    html: layout(data, { body, after, link, action: text.action ?? '' }),
  };
}

/** The text of a kind in a language, for a value of `change`. */
function textOf(locale: string, kind: MailKind, change: unknown): MailText {
  const texts = (BUILT_IN_TEXTS[locale] ?? en) as Readonly<Record<string, MailText>>;
  return texts[`${kind}:${String(change)}`] ?? texts[kind]!;
}

const fillAll = (lines: readonly string[], values: Values) =>
  lines.map((line) => fill(line, values)).filter((line) => line !== null);

/** Puts the values into a line. Null when one of them is empty. */
function fill(line: string, values: Values): string | null {
  let empty = false;
  const text = line.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const printed = print(values[name] as Value);
    empty ||= printed === '';
    return printed;
  });
  return empty ? null : text;
}

function print(value: Value): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? value.join(', ') : String(value);
}

interface Parts {
  readonly body: readonly string[];
  readonly after: readonly string[];
  readonly link: string | null;
  readonly action: string;
}

const BUTTON =
  'display:inline-block;padding:12px 20px;border-radius:8px;background:#1f2937;color:#ffffff;text-decoration:none';

/** Mail programs ignore stylesheets, so each element has its styles. */
function layout({ app, locale }: MailContext, { body, after, link, action }: Parts): Html {
  return html`<!doctype html>
<html lang="${locale}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>${app}</title></head>
<body style="margin:0;padding:24px;font:16px/1.5 system-ui,sans-serif">
<div style="max-width:560px;margin:0 auto">
<p><strong>${app}</strong></p>
${body.map((line) => html`<p>${line}</p>\n`)}${
    link &&
    html`<p><a href="${link}" style="${BUTTON}">${action}</a></p>\n<p style="font-size:13px;word-break:break-all">${link}</p>\n`
  }${after.map((line) => html`<p style="font-size:14px">${line}</p>\n`)}</div>
</body>
</html>
`;
}
