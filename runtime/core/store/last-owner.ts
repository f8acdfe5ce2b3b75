/** Message of the trigger that keeps the last owner in the user table. */
export const LAST_OWNER = 'Cannot remove the last owner';

/**
 * Whether the trigger refused a statement. SQLite and PostgreSQL both use its text as the message.
 */
export function isLastOwner(error: unknown): boolean {
  return (error as { message?: unknown } | null)?.message === LAST_OWNER;
}
