import { isOrigin } from '../rules/urls.ts';

/** Schemes that run or show what stands in the address. */
const HOSTILE = /^(?:javascript|data|vbscript|blob|file|about|view-source):/i;

/** `myapp://callback`, `com.example.app:/callback`: an address of an application on a device (RFC 8252 section 7.1). */
export const isAppAddress = (text: string): boolean =>
  /^[a-z][a-z0-9+.-]*:\/[^\s\\#]*$/i.test(text) &&
  !/^https?:/i.test(text) &&
  !HOSTILE.test(text) &&
  URL.canParse(text);

/** `http://127.0.0.1`: an application on a computer, which listens on any port (RFC 8252 section 7.3). */
export const isAnyPort = (text: string): boolean =>
  ['http://127.0.0.1', 'http://[::1]', 'http://localhost'].includes(text);

/** Whether an entry of `return_to` can match an address. */
export const isReturnTo = (text: string): boolean =>
  isAppAddress(text) || (isOrigin(text) && /^https?:/.test(text));
