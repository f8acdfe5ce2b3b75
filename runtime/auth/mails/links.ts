import type { AuthModel } from '@twofold/schema';
import type { AuthConfig } from '../config.ts';

/** The pages to which mails link. */
export type PageName =
  | 'account'
  | 'change-email'
  | 'consent'
  | 'email-sign-in'
  | 'forgot-password'
  | 'invitation'
  | 'register'
  | 'reset-password'
  | 'restore'
  | 'second-factor'
  | 'setup'
  | 'sign-in'
  | 'unlock'
  | 'verify-email';

interface LinkParts {
  readonly model: AuthModel;
  readonly config: Pick<AuthConfig, 'appUrl'>;
}

/**
 * The address of a page. It starts with `APP_URL` or `auth.pages.url`, never with the `Host`
 * header, which an attacker can choose. With `pages: false` it is a page of the project's own.
 */
export function pageLink(parts: LinkParts, page: PageName, token?: string): string {
  const { pages } = parts.model;
  const own = pages === false && page === 'change-email' ? 'verify-email' : page;
  const base = pages === false ? parts.config.appUrl : pagesUrl(parts);
  return `${base}/${own}${token === undefined ? '' : `?token=${token}`}`;
}

/** The address of the pages, without a slash at the end. */
export function pagesUrl({ model: { pages }, config }: LinkParts): string {
  if (pages === false) return config.appUrl;
  return `${(pages.url ?? config.appUrl).replace(/\/+$/, '')}${pagesPath(pages)}`;
}

/** The path of the pages, with a slash at the start and none at the end. */
export function pagesPath({ path }: Exclude<AuthModel['pages'], false>): string {
  return `/${path.replaceAll(/^\/+|\/+$/g, '')}`;
}
