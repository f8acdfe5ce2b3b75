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
