/** What a button of a page does. A new button needs a row: the test names those without one. */
export interface Press {
  /** Its name; `*` stands for any text, and then there may be none. */
  readonly button: string;
  /** Whether the page may be without it. */
  readonly optional?: true;
  /** The dialog that opens first, what is typed into it by label, and the button that goes on. */
  readonly dialog?: string;
  readonly fill?: Readonly<Record<string, string>>;
  readonly go?: string;
  /** The call that it makes, `METHOD /path`, with `*` for an id. */
  readonly call?: string;
  /** The action that the audit log has of that call; absent where nothing is changed. */
  readonly audit?: string;
  /** What is there afterwards, by role and name. */
  readonly sees?: readonly [role: string, name: string];
}

/** A page, or a tab of it, and its buttons in the order in which they are pressed. */
export interface Place {
  /** The address below the console's path. */
  readonly at: string;
  readonly presses: readonly Press[];
}

/** Where users are managed. */
export const ADMIN = '/api/auth/admin';
/** A button that asks first, in a dialog and by a button of its own name. */
export const confirmed = (button: string, rest: Omit<Press, 'button'>, name = button): Press => ({
  ...{ button, dialog: name, go: name },
  ...rest,
});
/** A button that opens a dialog which nothing is done with. */
export const opens = (button: string, dialog: string): Press => ({
  button,
  sees: ['dialog', dialog],
});
