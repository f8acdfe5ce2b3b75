import { query } from './address.ts';

const values = (text: string, given: Readonly<Record<string, string | number>>) =>
  text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => String(given[name] ?? whole));

/**
 * A text of the console. `?locale=en-XA` puts each between brackets, so that one that was not
 * written here stands out.
 *
 * @example t('Page {page} of {pages}', { page: 1, pages: 3 })
 */
export function t(text: string, given: Readonly<Record<string, string | number>> = {}): string {
  const filled = values(text, given);
  return query.value.get('locale') === 'en-XA' ? `⟦${filled}⟧` : filled;
}
