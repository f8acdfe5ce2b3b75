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
