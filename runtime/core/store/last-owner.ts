/** What a trigger of the user table says when the last one who holds everything would go. */
export const LAST_OWNER = 'Cannot remove the last owner';

/** Whether the database refused a statement by that trigger. SQLite and PostgreSQL both pass its text on as the message. */
export function isLastOwner(error: unknown): boolean {
  return (error as { message?: unknown } | null)?.message === LAST_OWNER;
}
