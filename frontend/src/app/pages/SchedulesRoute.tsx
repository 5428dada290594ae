/** /schedules */

export { SchedulesPage as default } from "@/features/campaigns/schedules/SchedulesPage";
