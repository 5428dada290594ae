/** /settings */

export { SettingsPage as default } from "@/features/accounts/SettingsPage";
