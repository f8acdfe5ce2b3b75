/** Links that sign in or set a password. Their address contains a code. */
const LINK = /([?&#](?:token|code)=)[^\s"&#\\]+/g;
/** A line of a mail, which development writes instead of sending it. */
const MAIL = '"msg":"mail"}';
/** Six digits, and not those of an escape such as `\u0012`. */
const MAILED_CODE = /(?<![\du])\d{6}(?!\d)/g;

/**
 * A line without what signs somebody in. In development the log has links of mails, of the first
 * administrator and of the operator for the person at its terminal. A reader of kept lines only
 * has a permission, and must not become another user by it.
 *
 * @example withoutLinks('{"msg":"Console: http://localhost:8080/console#code=abc"}') // …#code=***"}
 */
export function withoutLinks(line: string): string {
  const links =
    line.includes('token=') || line.includes('code=') ? line.replaceAll(LINK, '$1***') : line;
  return links.includes(MAIL) ? links.replaceAll(MAILED_CODE, '***') : links;
}
