export type Allow = 'PUBLIC' | 'USER' | 'OWNER' | 'ROLE' | 'API_KEY';

export type Verb = 'READ' | 'CREATE' | 'UPDATE' | 'DELETE';

/** One `@auth`. Several on one type or field are alternatives. */
export interface AuthRule {
  readonly allow: readonly Allow[];
  readonly roles: readonly string[];
  /** Column that holds the owner's user id, when `OWNER` is allowed. */
  readonly owner?: string;
  readonly on: readonly Verb[];
}
