// Times come in UTC; this shows them in the zone of the browser, and names it.
for (const time of document.querySelectorAll("time[datetime]")) {
  const moment = new Date(time.dateTime);
  if (Number.isNaN(moment.getTime())) continue;
  const options = { dateStyle: "short", timeStyle: "short" };
  const zone = new Intl.DateTimeFormat(undefined, { timeZoneName: "short" })
    .formatToParts(moment).find((part) => part.type === "timeZoneName");
  time.title = time.textContent;
  time.textContent = new Intl.DateTimeFormat("sv", options).format(moment) + " " + zone.value;
}
