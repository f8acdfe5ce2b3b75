/** The SQL standard's names. SQLite is always serializable. */
export type IsolationLevel = 'read committed' | 'repeatable read' | 'serializable';
