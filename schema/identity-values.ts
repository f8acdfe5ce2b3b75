/** Printable ASCII without the characters that mean something in an address list. */
const ADDRESS = /^[!#-'*+\-./0-9=?A-Z^-~]+@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/;
const USERNAME = /^[A-Za-z0-9_.-]{3,32}$/;
const PHONE = /^\+?[0-9 ()-]{5,20}$/;

/**
 * Whether a mailbox may enter: judged as typed, before anything is folded, because a look-alike
 * character folds into a valid address (`a＠x.test`), and because what passes here is handed to the
 * mailer.
 */
export function isEmail(text: string): boolean {
  if (text.length > 254 || !ADDRESS.test(text)) return false;
  const [local, domain] = text.split('@') as [string, string];
  return (
    local.length <= 64 &&
    !domain.includes('..') &&
    !local.startsWith('.') &&
    !local.endsWith('.') &&
    !local.includes('..')
  );
}

export const isUsername = (text: string) => USERNAME.test(text);

export const isPhone = (text: string) => PHONE.test(text);
