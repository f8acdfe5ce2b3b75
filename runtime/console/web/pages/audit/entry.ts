/** An entry of the log, as the API names it. */
export interface Entry {
  readonly id: string;
  readonly at: string;
  readonly actor: string;
  readonly via: string;
  readonly ip: string;
  readonly action: string;
  readonly target: string;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly request_id: string;
}
