/** From one time of the service to another: right whatever the device's own clock says. */
export const durationMs = (from: string, to: string): number => Date.parse(to) - Date.parse(from);
