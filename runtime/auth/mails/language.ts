/**
 * The first available language that a list of preferences names: `de-CH` is served by `de`.
 *
 * @param wishes Language tags (BCP 47), the most wanted first.
 */
export function matchLanguage(
  wishes: readonly string[],
  available: readonly string[],
): string | null {
  for (const wish of wishes) {
    const tag = wish.toLowerCase();
    const found =
      available.find((each) => each.toLowerCase() === tag) ??
      available.find((each) => each.toLowerCase() === tag.split('-')[0]);
    if (found) return found;
  }
  return null;
}

/** The language tags of an `Accept-Language` header, by their weight (RFC 9110 section 12.5.4). */
export function acceptedLanguages(header: string | undefined): string[] {
  return (header ?? '')
    .slice(0, 512)
    .split(',')
    .map((part) => {
      const [tag = '', weight = ''] = part.split(';').map((text) => text.trim());
      return { tag, q: /^q=[\d.]+$/i.test(weight) ? Number(weight.slice(2)) : 1 };
    })
    .filter(({ tag, q }) => /^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$/.test(tag) && q > 0)
    .sort((a, b) => b.q - a.q)
    .map(({ tag }) => tag);
}
