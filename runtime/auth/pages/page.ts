import type { Context as KoaContext } from 'koa';
import type { RequestContext } from '@twofold/runtime/kernel';
import type { Reply } from '@twofold/runtime/http';
import type { Html } from '../mails/html.ts';
import type { PageName } from '../mails/links.ts';
import type { FlowInput } from '../requests/flow-calls.ts';
import type { AuthState } from '../state.ts';
import type { PageCookies, PendingSignIn } from './cookies.ts';
import type { AllTexts } from './texts.ts';

/** One request to a page. */
export interface PageRequest {
  readonly koa: KoaContext;
  readonly context: RequestContext;
  readonly auth: AuthState;
  readonly cookies: PageCookies;
  /** The texts of the pages in the language of the reader. */
  readonly t: AllTexts;
  readonly locale: string;
  /** The parameters of the address; one that occurs twice is absent. */
  readonly query: Readonly<Record<string, string>>;
  /** The unfinished sign-in of this browser, if there is one. */
  readonly step: PendingSignIn | null;
  /** Whether the pages' cookie belongs to a live session. */
  readonly signedIn: boolean;
  /** The address of a page: `/auth/account`. */
  path(page: PageName, query?: Readonly<Record<string, string | null | undefined>>): string;
  /**
   * Calls the handler of an endpoint (`POST /api/auth/login`), with its limits, guards and checks,
   * as a client would.
   *
   * @throws AppError like the endpoint.
   */
  call(endpoint: string, input?: FlowInput): Promise<Reply>;
  /** Whether this server has an endpoint. */
  serves(endpoint: string): boolean;
}

/** The fields of a form as they were sent; empty for a page that was just opened. */
export interface FormState {
  readonly values: Readonly<Record<string, string>>;
  /** Texts by the name of the field that they belong to. */
  readonly errors: Readonly<Record<string, string>>;
  /** An error that belongs to no field. */
  readonly alert?: string;
}

/** A page that is shown. */
export interface View {
  readonly title: string;
  readonly body: Html;
  readonly status?: number;
  /** A wider page, for lists. */
  readonly wide?: boolean;
  /** Whether the page needs the script for passkeys. */
  readonly script?: boolean;
}

/** Another page comes next. */
export interface Redirect {
  readonly redirect: string;
}

/** An answer to the script of a page. */
export interface Data {
  readonly data: unknown;
}

/** A file to save. */
export interface Download {
  readonly download: Reply;
}

export type Outcome = View | Redirect | Data | Download;

export interface Page {
  readonly name: PageName;
  /** Shown by a GET, which changes nothing, and after a form was refused. */
  show(request: PageRequest, form: FormState): View | Redirect | Promise<View | Redirect>;
  /** Takes a form. A thrown `AppError` is shown at its field. */
  submit?(request: PageRequest, values: Readonly<Record<string, string>>): Promise<Outcome>;
  /** The names of the form's fields. Errors are shown at these fields. */
  readonly fields?: readonly string[];
}
