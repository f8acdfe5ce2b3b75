import { signal } from '@preact/signals';
import type { Caller } from '../own-pages.ts';

/** The answer of `GET /api/console`. */
export interface Description {
  readonly name: string;
  readonly version: string;
  readonly environment: 'development' | 'production';
  readonly path: string;
  readonly sign_in: {
    readonly host: boolean;
    readonly users: boolean;
    readonly providers: readonly string[];
    /** True when a mail can have the code of a sign-in, absent otherwise. */
    readonly email_code?: true;
    /** The page that sends a link to choose another password. */
    readonly forgot?: string;
    /** False when they are off, absent otherwise. */
    readonly passkeys?: false;
    /** False when no administrator can act as a user, absent otherwise. */
    readonly impersonation?: false;
  };
  readonly caller: Caller | null;
  readonly pages: readonly { readonly id: string; readonly title: string; readonly path: string }[];
}

/**
 * The description of the server and of the signed-in user; null before the server's first answer.
 */
export const description = signal<Description | null>(null);
