/** HTML that is safe to send: made by the tag `html`. */
export class Html {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

/** A value in a template of `html`. `false`, `null` and `undefined` print nothing. */
export type HtmlValue = string | number | Html | readonly HtmlValue[] | false | null | undefined;

/**
 * Makes HTML and escapes every value, except for HTML that this tag has made. Values of attributes
 * need quotes around them.
 *
 * @example html`<p class="${name}">Hello ${user.name}</p>`
 */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let text = strings[0] ?? '';
  values.forEach((value, index) => {
    text += print(value) + (strings[index + 1] ?? '');
  });
  return new Html(text);
}

function print(value: HtmlValue): string {
  if (value === false || value === null || value === undefined) return '';
  if (value instanceof Html) return value.toString();
  return Array.isArray(value) ? value.map(print).join('') : escapeHtml(String(value));
}

const escapeHtml = (text: string) =>
  text.replaceAll(/[&<>"'`]/g, (letter) => `&#${letter.charCodeAt(0)};`);

const MAX_LENGTH = 40;

/** What a mail program could make a link of, and what would begin a line. */
const LIKE_LINK = /[/\\:@\r\n\u2028\u2029]|[\p{L}\p{N}][.\u3002\uff0e\uff61][\p{L}\p{N}]/u;

/** Empty for a name that somebody could have chosen as the address of a page. */
export const withoutLink = (name: string): string => (LIKE_LINK.test(name) ? '' : name);

/**
 * A name that users chose, as a mail shows it to others: letters, digits, spaces, `'` and `-`. It is
 * empty for one that holds a link, so that nobody can have one sent to strangers.
 */
export const mailName = (name: string): string =>
  withoutLink(name.trim())
    .replaceAll(/[^\p{L}\p{M}\p{N} '-]/gu, '')
    .replaceAll(/ +/g, ' ')
    .slice(0, MAX_LENGTH)
    .trim();
