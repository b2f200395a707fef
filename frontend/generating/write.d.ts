export function files(): Promise<Map<URL, string>>;
